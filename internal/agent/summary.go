package agent

// RunStatus is where a run stands.
type RunStatus uint8

// Values of RunStatus.
const (
	RunStatusUnset   RunStatus = iota
	RunStatusRunning           // its root has not ended, or it is not quiet yet
	RunStatusEnded             // its root ended and nothing came for the quiet period
	RunStatusPaused            // a deferral or an interrupt came last
	RunStatusStalled           // no root's end and nothing new for longer than the wall-time limit
)

var runStatusNames = [...]string{"", "running", "ended", "paused", "stalled"}

// String gives the name, empty for the zero value.
func (v RunStatus) String() string { return nameOf(runStatusNames[:], uint8(v)) }

// ParseRunStatus reads a name as String gives it.
func ParseRunStatus(s string) (RunStatus, bool) {
	i, ok := valueOf(runStatusNames[:], s)
	return RunStatus(i), ok
}

// KindCounts counts the steps of one kind (conventions, section Counts).
type KindCounts struct {
	Steps    int64 // distinct steps with an attempt that counts
	Attempts int64 // executions, and calls that were requested and not seen
	Errors   int64 // attempts with outcome error or unknown
}

// Usage is tokens and cost, once per operation (the last attempt of each step)
// and once per attempt (all of them).
type Usage struct {
	Tokens     Tokens
	CostNano   int64
	CostSource CostSource // computed if any part was computed
}

// Summary is a run in short: a row of the store's runs table, an item of GET
// /runs and the answer of GET /runs/{run_id}.
type Summary struct {
	Tenant   string
	RunID    string
	IDSource IDSource
	Parent   string
	Session  string
	Agent    string
	TaskType string
	User     string
	Scenario string

	Status     RunStatus
	Outcome    RunOutcome // unset is "unstated"
	Stated     bool       // a span states the outcome
	Escalation string
	Started    int64 // Unix nanoseconds
	Ended      int64 // Unix nanoseconds

	Counts       [KindOther + 1]KindCounts // by Kind
	PerOperation Usage
	PerAttempt   Usage

	Models         []string
	PromptVersions []string
	Traces         []TraceID
	Tools          []string
	Targets        []string
	Findings       map[string]int64 // by kind, withdrawn ones left out
	UnknownOpen    int64
	PolicyHash     string

	RootSeen          bool
	DroppedAttributes int64
	CallsNotSeen      int64
	AttemptsVisible   Visibility
	ArgumentsRecorded float64

	// When the first and the last of the bodies that the run's spans refer to
	// expire, Unix seconds; both 0 where they refer to none.
	ContentFirst int64
	ContentLast  int64

	Spans int64 // distinct spans it was derived from
	Units []string
}
