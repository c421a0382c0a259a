package agent

// Run is one run of one agent task, derived from steps. It holds pointers into
// the Input it was derived from and must not be changed.
type Run struct {
	Tenant   string
	ID       string
	IDSource IDSource
	Parent   string // the run that started this one
	Session  string
	Agent    string
	TaskType string
	User     string
	Scenario string

	Outcome    RunOutcome // as stated, else by the rules of the design's section 6; unset = unstated
	Stated     bool       // a span states the outcome
	Escalation string
	RootSeen   bool
	RootEnded  bool
	Paused     bool  // a deferral or an interrupt is the last thing that happened
	Started    int64 // Unix nanoseconds, first start of all its spans
	Ended      int64 // Unix nanoseconds, last end of all its spans

	Units  []string  // sorted
	Traces []TraceID // sorted
	Steps  []RunStep // by the first attempt's (start, end, trace, span)
	Spans  []*Step   // every span of the run once, by (start, end, trace, span)
	Turns  []Turn    // new user messages that only model inputs show, by time

	// Facts are what is known of the messages that its spans refer to, and maybe
	// of others: those of the Input.
	Facts map[Ref]*MessageFacts

	PolicyHash     string // of the newest span
	Models         []string
	PromptVersions []string

	// AgentUsage is what only agent spans state of tokens and cost: no model call
	// below them has any.
	AgentUsage Usage

	DroppedAttributes int64
	CallsNotSeen      int
	AttemptsVisible   Visibility
	ArgumentsRecorded float64 // share of the tool attempts with recorded arguments, 0 to 1; 1 where there are none
}

// Turn is a new user message that only a model input shows. It counts as a
// human step for loops and severities, not in counts or limits.
type Turn struct {
	Lane int   // of the model call that read it
	Time int64 // Unix nanoseconds, the start of that call
	Span *Step // that call
}

// Visibility says how much of something can be seen in the spans.
type Visibility uint8

// Values of Visibility.
const (
	VisibleNone Visibility = iota
	VisibleSome
	VisibleAll
)

// RunStep is a planned step of a run: all attempts of one thing.
type RunStep struct {
	ID       string // as the API gives it: the id as sent, or ~ and 16 hex digits
	Declared bool   // the spans state a step id or dialect identity
	Kind     Kind
	Source   KindSource
	Op       Op
	Lane     int // index into the run's lanes, 0 for the run's own
	LaneName string
	Agent    string // innermost agent it runs under
	Tool     string
	Target   string
	// HandoffTo is the agent that takes over, on a hand-off.
	HandoffTo string
	Attempts  []Attempt // in the order of their numbers; never empty
}

// Attempt is one execution of a step, or a refused one.
type Attempt struct {
	Number int32
	Source AttemptSource

	// The span that names it: its outermost, earliest one. Part tells several
	// attempts of one span apart, from 1; 0 for the only one. A call without a
	// span stands under the model span that asked for it.
	Unit  string
	Trace TraceID
	Span  SpanID
	Part  uint16

	Spans   []*Step // outermost and earliest first; never empty
	NoSpan  bool    // the call was requested and has no span
	Seen    bool    // false where a requested call has neither span nor answer
	CallID  string
	Tool    string
	Target  string
	Key     string
	Gate    Gate
	Outcome Outcome
	// Executed: it ran, whatever came of it. Refused, deferred and gate-stopped
	// attempts did not.
	Executed bool

	Start int64 // Unix nanoseconds
	End   int64

	Arguments  Content
	Result     Content
	Sent       Digest // hash of the arguments as sent
	Input      Digest // of a model call
	Output     Digest
	Inputs     []Ref // its messages, on the span or as log records
	Outputs    []Ref
	ErrorType  string
	ErrorText  string
	StatusCode int32
	Requests   int // HTTP requests below it
	// UnsafeRequest: two requests with one method and URL, the second begun
	// after the first ended without an answer, under different keys or none.
	UnsafeRequest bool

	Tokens     Tokens
	CostNano   int64
	CostSource CostSource
}

// Step is the span that names the attempt.
func (a *Attempt) Step() *Step { return a.Spans[0] }

// ModelOf is the model that answered, else the one that was asked, in an attempt
// of a model call. Any other step has none, also where it stands under a model's
// span.
func ModelOf(st *RunStep, a *Attempt) string {
	switch m := &a.Step().Model; {
	case st.Op != OpModel:
		return ""
	case m.Served != "":
		return m.Served
	default:
		return m.Requested
	}
}

// Act is the narrow copy of an executed or refused act, human or reconcile
// attempt, by which runs are compared with each other.
type Act struct {
	Tenant  string
	Run     string
	Unit    string
	Trace   TraceID
	Span    SpanID
	Part    uint16
	StepID  string
	Attempt int32
	Kind    Kind
	Agent   string
	Tool    string
	Target  string
	Key     string
	Gate    Gate
	Outcome Outcome
	// Executed as in Attempt.
	Executed bool
	Start    int64
	End      int64
}
