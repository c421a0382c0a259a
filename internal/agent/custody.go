package agent

import (
	"encoding/hex"
	"errors"
)

// Holds and erasures: what people ask of the store beside reading it. The types
// stand here because store and query both know this package and neither may
// know the other.

// JobID names a hold or an erasure. It is random.
type JobID [16]byte

// String gives the id as 32 lower-case hex digits.
func (id JobID) String() string { return hex.EncodeToString(id[:]) }

// ParseJobID reads 32 hex digits. All zero is no id: it stands for every job.
func ParseJobID(s string) (id JobID, err error) {
	if len(s) != 2*len(id) {
		return id, errors.New("want 32 hex digits")
	}
	if _, err = hex.Decode(id[:], []byte(s)); err == nil && id == (JobID{}) {
		err = errors.New("want 32 hex digits, not all zero")
	}
	return id, err
}

// Scope is by what runs are selected.
type Scope uint8

// Values of Scope.
const (
	ScopeUnset  Scope = iota
	ScopeRun          // one run, by its id
	ScopeTarget       // the runs with a step on a target
	ScopeUser         // the runs with a span of a user
	ScopeTime         // the runs that took place, in part at least, in a range of time
)

var scopeNames = [...]string{"", "run", "target", "user", "time"}

// String gives the name, empty for the zero value.
func (v Scope) String() string { return nameOf(scopeNames[:], uint8(v)) }

// Selector selects runs of a tenant.
type Selector struct {
	Scope   Scope
	Subject string // the run's id, the target or the user, as spans have it
	Also    string // another spelling that spans have; mostly empty
	From    int64  // Unix nanoseconds, inclusive; of ScopeTime
	To      int64  // exclusive; of ScopeTime
}

// Matches reports whether a run is selected.
func (s Selector) Matches(r *Run) bool {
	switch s.Scope {
	case ScopeRun:
		return r.ID == s.Subject
	case ScopeTime:
		return r.Started < s.To && max(r.Started, r.Ended) >= s.From
	case ScopeUser:
		for _, span := range r.Spans {
			if s.is(span.User) {
				return true
			}
		}
	case ScopeTarget:
		for i := range r.Steps {
			if s.is(r.Steps[i].Target) {
				return true
			}
		}
		for _, span := range r.Spans {
			if s.is(span.Call.Target) {
				return true
			}
		}
	}
	return false
}

func (s Selector) is(value string) bool {
	return value == s.Subject || value == s.Also && value != ""
}

// HoldEvent is how far a hold has come. It never goes back.
type HoldEvent uint8

// Values of HoldEvent.
const (
	HoldUnset    HoldEvent = iota
	HoldPlaced             // asked for; not all is copied yet
	HoldCopied             // all that it covers is kept, and what arrives later will be
	HoldReleased           // a person ended it; what it kept alone is still there
	HoldEnded              // what it kept alone is gone
)

var holdEventNames = [...]string{"", "placed", "copied", "released", "ended"}

// String gives the name, empty for the zero value.
func (v HoldEvent) String() string { return nameOf(holdEventNames[:], uint8(v)) }

// Hold keeps runs beyond their terms until it is ended.
type Hold struct {
	ID     JobID
	Tenant string
	Selector
	Owner    string // who answers for it
	Reason   string
	Event    HoldEvent
	Placed   int64 // Unix nanoseconds
	Released int64 // Unix nanoseconds; 0 while it holds
	Runs     int64 // runs that it covers
	Rows     int64 // rows that were copied
}

// ErasureEvent is how far an erasure has come.
type ErasureEvent uint8

// Values of ErasureEvent.
const (
	ErasureUnset     ErasureEvent = iota
	ErasureRequested              // asked for
	ErasureResolved               // it is known which runs it means
	ErasureErased                 // no answer has it any more; files may
	ErasureDone                   // no file of a table has it any more
)

var erasureEventNames = [...]string{"", "requested", "resolved", "erased", "done"}

// String gives the name, empty for the zero value.
func (v ErasureEvent) String() string { return nameOf(erasureEventNames[:], uint8(v)) }

// Erasure takes content and identifying fields of runs out of every table.
type Erasure struct {
	ID     JobID
	Tenant string
	Selector
	SubjectDigest Hash // SHA-256 of id and subject, by which who knows the subject can tell that it was this one
	Full          bool // the rows go as well; else that something happened, its kind, outcome and time stay
	Owner         string
	Reason        string
	Event         ErasureEvent
	Requested     int64 // Unix nanoseconds
	Done          int64 // Unix nanoseconds; 0 before
	Runs          int64 // runs that it covers
	Waiting       int64 // units of them that a hold keeps from being erased
	Removed       []Removal
}

// Removal is a line of an erasure's certificate: rows that went from a table.
type Removal struct {
	At     int64 // Unix nanoseconds
	Table  string
	Rows   int64
	Digest Hash // SHA-256 over the sorted SHA-256 of the rows
}

// UnitOfRun is a unit and a run with spans in it.
type UnitOfRun struct{ Unit, Run string }

// Access is one line of the log of who read or did what.
type Access struct {
	At      int64 // Unix nanoseconds
	Actor   string
	Role    string
	Action  string
	Run     string
	Detail  string
	Expires int64 // Unix seconds
}
