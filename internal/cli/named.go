package cli

import (
	"regexp"

	"github.com/steptrail/steptrail/query/api"
)

// names are what findings name of a run: steps by id, and spans.
type names struct {
	steps map[string]bool
	spans map[spanName]bool
}

type spanName struct{ trace, span string }

// derivedID is a step id that no span states, as messages hold it.
var derivedID = regexp.MustCompile(`~[0-9a-f]{16}`)

// namedIn gives what the messages and the evidence of findings name. Withdrawn
// ones are not looked at.
func namedIn(found []api.Finding) names {
	n := names{map[string]bool{}, map[spanName]bool{}}
	for i := range found {
		f := &found[i]
		if f.Status == api.FindingStatusWithdrawn {
			continue
		}
		for _, id := range derivedID.FindAllString(f.Message, -1) {
			n.steps[id] = true
		}
		for _, e := range f.Evidence {
			n.spans[spanName{e.TraceID, e.SpanID}] = true
		}
	}
	return n
}

// step reports whether a finding names the step, or a span of it.
func (n names) step(s *api.Step) bool {
	if n.steps[s.StepID] {
		return true
	}
	for i := range s.Attempts {
		a := &s.Attempts[i]
		if !a.NoSpan && n.spans[spanName{a.TraceID, a.SpanID}] {
			return true
		}
	}
	return false
}
