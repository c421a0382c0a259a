package detect

import (
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// keyed are the acts under one key: those of the run in order, executed or not,
// and those of other runs.
type keyed struct {
	key    string
	first  moment
	rest   []moment
	others []agent.Act
}

// underKeys gives the keys of the run that stand on several acts, of this run or
// of others, in order of their first act.
func (x *scene) underKeys() []keyed {
	if x.indexed {
		return x.keys
	}
	x.indexed = true
	line := x.timeline()
	n := 0
	for i := range line {
		if line[i].step.Kind == agent.KindAct && line[i].at.Key != "" {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	at := make(map[string]int32, n)
	all := make([]keyed, 0, n)
	for _, m := range line {
		if m.step.Kind != agent.KindAct || m.at.Key == "" {
			continue
		}
		if i, known := at[m.at.Key]; known {
			all[i].rest = append(all[i].rest, m)
			continue
		}
		at[m.at.Key] = int32(len(all)) // fewer than spans
		all = append(all, keyed{key: m.at.Key, first: m})
	}
	x.keys = all[:0]
	for i := range all {
		k := &all[i]
		if x.Under != nil {
			k.others = slices.DeleteFunc(slices.Clone(x.Under(k.key)), func(a agent.Act) bool { return a.Run == x.Run.ID || a.Kind != agent.KindAct })
		}
		if len(k.rest) > 0 || len(k.others) > 0 {
			x.keys = append(x.keys, *k)
		}
	}
	return x.keys
}

// own gives the acts of this run in order.
func (k *keyed) own() []moment { return append([]moment{k.first}, k.rest...) }
