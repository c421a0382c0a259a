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

// RunLookup looks runs up by their ids.
type RunLookup interface {
	// SummariesOf gives the newest stored summaries of runs, in the order of the
	// ids; runs that have none are left out.
	SummariesOf(ctx context.Context, runs []string) ([]agent.Summary, error)
	// RunNow gives the id that a run has now: its own, or that of the run that it
	// was taken into.
	RunNow(ctx context.Context, runID string) (string, error)
}

// FindingReader reads findings, the newest version of each.
type FindingReader interface {
	Findings(ctx context.Context, f FindingFilter) ([]agent.Finding, error)
}

// UnknownReader reads unknown outcomes and what people said of them.
type UnknownReader interface {
	// Unknowns lists findings outcome.unknown that are not withdrawn, the newest
	// version of each: open ones first, oldest first.
	Unknowns(ctx context.Context, f UnknownFilter) ([]agent.Finding, error)
	// Groups gives the units and all that may share a run with them.
	Groups(ctx context.Context, units []string) ([]agent.Group, error)
	// Resolutions gives what people said of attempts of the units, in the order
	// in which it counts.
	Resolutions(ctx context.Context, units []string) ([]agent.ResolutionRecord, error)
}

// UnknownSettler writes down what a person said of an unknown outcome.
type UnknownSettler interface {
	// AddResolution keeps the record. It may be repeated.
	AddResolution(ctx context.Context, rec *agent.ResolutionRecord) error
	// MarkSettled writes the finding as it is now, and has the run of the unit
	// judged again.
	MarkSettled(ctx context.Context, f agent.Finding, unit string) error
}

// StatsReader reads figures over many runs.
type StatsReader interface {
	// Stats gives the figures in the order of bucket and group.
	Stats(ctx context.Context, what agent.Statistic, f agent.StatsFilter) ([]agent.StatsRow, error)
}

// Custodian keeps what people ask of the store beside reading it. It is carried
// out afterwards.
type Custodian interface {
	// Holds gives every hold, ended ones included; with an id that one alone, if
	// it is there.
	Holds(ctx context.Context, id agent.JobID) ([]agent.Hold, error)
	WriteHold(ctx context.Context, h *agent.Hold, at int64) error
	// Erasure gives one with its certificate, or ErrNotFound.
	Erasure(ctx context.Context, id agent.JobID) (agent.Erasure, error)
	WriteErasure(ctx context.Context, e *agent.Erasure, at int64) error
	// Named reports whether a span that is stored may be meant by a selector of a
	// user or target.
	Named(ctx context.Context, sel agent.Selector) (bool, error)
	// LogAccess appends lines to the access log.
	LogAccess(ctx context.Context, lines []agent.Access) error
}

// Reader reads the history of one tenant, and keeps what people say of it. It is
// safe for concurrent use.
type Reader interface {
	RunReader
	RunLister
	RunLookup
	FindingReader
	UnknownReader
	UnknownSettler
	StatsReader
	Custodian
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
	Target        []string // any of these spellings
	User          []string
	Session       []string
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

// UnknownFilter selects unknown outcomes. Zero fields select nothing away.
type UnknownFilter struct {
	Run    string
	Tool   string
	Agent  string
	Target []string     // any of these spellings
	Status agent.Status // open or resolved

	After UnknownKey // only those after this place
	Limit int
}

// UnknownKey is an unknown outcome's place in the order of a list: open ones
// first, oldest first.
type UnknownKey struct {
	Resolved bool
	Since    int64 // Unix nanoseconds
	ID       agent.FindingID
}

// IsZero reports whether the key is the beginning of the list.
func (k UnknownKey) IsZero() bool { return k == UnknownKey{} }

// FindingKey is a finding's place in the order of a list: newest first.
type FindingKey struct {
	DetectedAt int64 // Unix nanoseconds
	ID         agent.FindingID
}

// IsZero reports whether the key is the beginning of the list.
func (k RunKey) IsZero() bool { return k == RunKey{} }

// IsZero reports whether the key is the beginning of the list.
func (k FindingKey) IsZero() bool { return k == FindingKey{} }
