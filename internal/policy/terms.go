package policy

import (
	"math"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/steptrail/steptrail/internal/agent"
)

// How far a span's start is believed when terms are taken from it.
const (
	OldestStart = 7 * 24 * time.Hour // before its arrival
	NewestStart = time.Hour          // after its arrival
)

// Terms are when what a span states expires, Unix seconds.
type Terms struct {
	Row     int64 // the row, and what the rules need of its content
	Content int64 // its bodies; never later than the row
	Past    bool  // the start was too old to be believed
	Future  bool  // the start lay in the future
}

// Terms says when a span's row and bodies expire. Sampling leaves out the
// content of read-only steps that do not fail by their own span: it expires
// after the grace term.
func (p *Policy) Terms(s *agent.Step) Terms {
	from, t := believed(s)
	r, class := p.Retention(s.Tenant), ClassOf(s)
	t.Row = after(from, r.Step(class))
	content := r.ContentOf(class)
	if class == ClassRead && !Fails(s) && !p.Sampling.Keeps(s.Unit) {
		content = min(content, p.Sampling.Grace)
	}
	t.Content = after(from, content)
	return t
}

// FullContent is when a span's bodies expire that sampling does not leave out,
// Unix seconds.
func (p *Policy) FullContent(s *agent.Step) int64 {
	from, _ := believed(s)
	return after(from, p.Retention(s.Tenant).ContentOf(ClassOf(s)))
}

// believed is the start from which terms are taken, Unix nanoseconds.
func believed(s *agent.Step) (from int64, t Terms) {
	switch {
	case s.Start < s.Received-int64(OldestStart):
		return s.Received - int64(OldestStart), Terms{Past: true}
	case s.Start > s.Received+int64(NewestStart):
		return s.Received + int64(NewestStart), Terms{Future: true}
	default:
		return s.Start, t
	}
}

// after is a time in Unix seconds, a term after Unix nanoseconds.
func after(from int64, term time.Duration) int64 {
	return from/int64(time.Second) + int64(term/time.Second)
}

// ClassOf is the class by whose terms a step is kept. A tool call of no kind is
// taken for an act: other spans may tell.
func ClassOf(s *agent.Step) Class {
	switch s.Kind {
	case agent.KindThink:
		return ClassThink
	case agent.KindRead:
		return ClassRead
	case agent.KindHuman:
		return ClassHuman
	case agent.KindReconcile:
		return ClassReconcile
	case agent.KindAct:
		return ClassAct
	case agent.KindOther:
		return ClassOther
	}
	switch s.Op {
	case agent.OpTool, agent.OpGate:
		return ClassAct
	default:
		return ClassOther
	}
}

// Fails reports whether a step failed as its own span tells.
func Fails(s *agent.Step) bool {
	switch s.Outcome {
	case agent.OutcomeError, agent.OutcomeUnknown:
		return true
	}
	switch s.Sign {
	case agent.SignRejected, agent.SignLost, agent.SignException:
		return true
	default:
		return false
	}
}

// Keeps tells whether the read-only steps of a unit keep their content for its
// full term: by the unit's hash, so that the answer is the same everywhere and a
// unit is whole or not.
func (s Sampling) Keeps(unit string) bool {
	return s.ReadContent >= 1 || float64(xxhash.Sum64String(unit)>>11) < s.ReadContent*math.Exp2(53)
}
