package query

import (
	"context"
	"errors"

	"github.com/steptrail/steptrail/internal/agent"
)

// Errors that a Reader returns, perhaps wrapped. Any other error is the
// server's fault and hidden from the client.
var (
	// ErrNotFound says that there is no such run or finding.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable says that the store cannot answer now and will later.
	ErrUnavailable = errors.New("store unavailable")
)

// RunReader reads one run. The group holds every unit that may belong to the
// run, also for the id of a run that was merged into another; ErrNotFound where
// no span is stored under the id. A truncated group holds part of a run that is
// larger than is read at once.
type RunReader interface {
	RunGroup(ctx context.Context, runID string) (agent.Group, error)
	// Bodies gives the text of the referenced bodies of the units, as far as
	// they are still kept.
	Bodies(ctx context.Context, units []string, refs []agent.Ref) (map[agent.Ref]string, error)
}

// RunLister lists runs. Both halves together are all runs.
type RunLister interface {
	// Summaries lists the newest version of each stored summary, merged runs
	// left out, in the order of the filter and at most Limit of them.
	Summaries(ctx context.Context, f RunFilter) ([]agent.Summary, error)
	// Changed gives the groups of the units that got rows after the summary of
	// their run was written, newest first, and at most limit units' worth.
	Changed(ctx context.Context, limit int) ([]agent.Group, error)
}

// FindingReader reads findings, the newest version of each.
type FindingReader interface {
	Findings(ctx context.Context, f FindingFilter) ([]agent.Finding, error)
}

// Reader reads the history of one tenant. It is safe for concurrent use.
type Reader interface {
	RunReader
	RunLister
	FindingReader
}

// RunFilter selects summaries. Zero fields select nothing away.
type RunFilter struct {
	From          int64 // Unix nanoseconds, of the start; inclusive
	To            int64 // Unix nanoseconds, of the start; exclusive
	Trace         agent.TraceID
	Agent         string
	TaskType      string
	Status        agent.RunStatus
	Outcome       agent.RunOutcome
	Unstated      bool   // only runs whose outcome is unset
	Finding       string // kind
	Tool          string
	Target        string
	User          string
	Session       string
	Model         string
	PromptVersion string
	Scenario      string

	Ascending bool   // by (start, run id), oldest first; else newest first
	After     RunKey // only runs after this place in the order; the zero key is the beginning
	Limit     int
}

// RunKey is a run's place in the order of a list.
type RunKey struct {
	Started int64 // Unix nanoseconds
	RunID   string
}

// FindingFilter selects findings. Zero fields select nothing away.
type FindingFilter struct {
	ID       agent.FindingID
	Runs     []string // any of these runs
	From     int64    // Unix nanoseconds, of the detection; inclusive
	To       int64    // exclusive
	Kind     string   // exact, or a prefix that ends with a full stop where IsPrefix
	IsPrefix bool     // Kind is a prefix, such as "loop."
	Status   agent.Status
	Severity agent.Severity
	Tool     string
	Agent    string

	After FindingKey // only findings after this place, newest first
	Limit int
}

// FindingKey is a finding's place in the order of a list: newest first.
type FindingKey struct {
	DetectedAt int64 // Unix nanoseconds
	ID         agent.FindingID
}

// IsZero reports whether the key is the beginning of the list.
func (k RunKey) IsZero() bool { return k == RunKey{} }

// IsZero reports whether the key is the beginning of the list.
func (k FindingKey) IsZero() bool { return k == FindingKey{} }
