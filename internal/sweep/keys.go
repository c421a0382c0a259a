package sweep

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// keyIndex holds every act of a tenant under the keys that the judged runs
// carry: those of other runs as written down, those of the judged runs as
// derived now.
type keyIndex struct {
	acts map[string][]agent.Act // by key, in order of (start, end, trace, span, part)
	here map[agent.UnitID]bool  // units judged now
}

func (s *Sweeper) keyIndex(ctx context.Context, tenant string, vs []*verdict) (*keyIndex, error) {
	x := &keyIndex{acts: map[string][]agent.Act{}, here: map[agent.UnitID]bool{}}
	var keys []string
	for _, v := range vs {
		for _, u := range v.group.Units {
			x.here[agent.UnitID{Tenant: tenant, Unit: u}] = true
		}
		for _, a := range v.acts {
			if a.Key == "" {
				continue
			}
			if x.acts[a.Key] == nil {
				keys = append(keys, a.Key)
			}
			x.acts[a.Key] = append(x.acts[a.Key], a)
		}
	}
	if len(keys) > 0 {
		slices.Sort(keys)
		old, err := s.store.ActsUnderKeys(ctx, tenant, keys)
		if err != nil {
			return nil, fmt.Errorf("read acts under %d keys: %w", len(keys), err)
		}
		for _, a := range old {
			if !x.here[agent.UnitID{Tenant: tenant, Unit: a.Unit}] {
				x.acts[a.Key] = append(x.acts[a.Key], a)
			}
		}
	}
	for _, acts := range x.acts {
		slices.SortFunc(acts, compareActs)
	}
	return x, nil
}

// under gives the acts under a key in order.
func (x *keyIndex) under(key string) []agent.Act { return x.acts[key] }

// maxFollowers is how many later runs under a key a changed act has judged again.
const maxFollowers = 64

// laterRuns gives, for each changed act, the units of the later acts of other runs
// under its key that may look back at it: a finding over two runs is carried by the
// later one, so that one has to be judged again. The next act looks at it; behind one
// of its tool and target that took effect, none does.
func (x *keyIndex) laterRuns(changed []agent.Act) []agent.UnitID {
	var out []agent.UnitID
	asked := map[agent.UnitID]bool{}
	for _, c := range changed {
		followers := 0
		for _, a := range x.acts[c.Key] {
			id := agent.UnitID{Tenant: a.Tenant, Unit: a.Unit}
			if a.Run == c.Run || x.here[id] || compareActs(a, c) < 0 {
				continue
			}
			if !asked[id] {
				asked[id] = true
				out = append(out, id)
			}
			followers++
			if followers == maxFollowers || a.Tool == c.Tool && a.Target == c.Target && a.Executed && a.Outcome == agent.OutcomeOK {
				break
			}
		}
	}
	return out
}

func compareActs(a, b agent.Act) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End),
		a.Trace.Compare(b.Trace), a.Span.Compare(b.Span), cmp.Compare(a.Part, b.Part))
}
