package detect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// Input is what the detectors look at. Nothing in it is changed.
type Input struct {
	Run *agent.Run
	// Under gives the acts of other runs of the tenant under a key, in any
	// order; nil where none can be looked up. Acts of this run are passed over.
	Under func(key string) []agent.Act
	// Policy holds the thresholds; nil where none is needed.
	Policy *policy.Policy
}

// detector looks at a run and gives what it found, without id.
type detector struct {
	kind string
	find func(in *Input) []agent.Finding
}

// detectors is every detector, in the order of their findings. None depends on
// another.
func detectors() []detector {
	return []detector{
		{"key.duplicate", keyDuplicate},
	}
}

// Run runs all detectors over a run. Findings come in the order of the list of
// detectors, then by the time they were complete, then by anchor.
func Run(in Input) []agent.Finding {
	if in.Run == nil {
		return nil
	}
	var all []agent.Finding
	for _, d := range detectors() {
		found := d.find(&in)
		for i := range found {
			f := &found[i]
			f.Kind, f.Tenant, f.Run = d.kind, in.Run.Tenant, in.Run.ID
			f.ID = agent.NewFindingID(f.Tenant, f.Run, f.Kind, f.Anchor)
			if f.Status == agent.StatusUnset {
				f.Status = agent.StatusOpen
			}
		}
		slices.SortFunc(found, func(x, y agent.Finding) int {
			return cmp.Or(cmp.Compare(x.DetectedAt, y.DetectedAt), strings.Compare(x.Anchor, y.Anchor))
		})
		all = append(all, found...)
	}
	return all
}

// Kinds gives the kinds of findings that Run can raise, in its order.
func Kinds() []string {
	list := detectors()
	kinds := make([]string, len(list))
	for i, d := range list {
		kinds[i] = d.kind
	}
	return kinds
}
