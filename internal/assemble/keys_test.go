package assemble

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// looksBack says for each act of a group what findings under a key depend on: the
// nearest earlier act of another step, and the nearest earlier one of its tool and
// target that took effect.
func looksBack(list []keyAct, g *group) (all []string) {
	for i := range list {
		if list[i].group != g {
			continue
		}
		a := &list[i].act
		var step, thing *agent.Act
		for k := range i {
			b := &list[k].act
			if b.Run != a.Run || b.StepID != a.StepID {
				step = b
			}
			if tookEffect(b) && b.Tool == a.Tool && (b.Target == a.Target || b.Target == "" || a.Target == "") {
				thing = b
			}
		}
		all = append(all, fmt.Sprintf("%+v: %+v, %+v", a, step, thing))
	}
	return all
}

// Whatever a group's acts under a key were and become, each other group whose acts
// have another one before them is judged again.
func TestGroupsThatLookBackAtAnotherActAreAffected(t *testing.T) {
	affected, all := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		x := newKeyIndex(10)
		groups := make([]*group, 5)
		for i := range groups {
			groups[i] = &group{}
		}
		for range 30 {
			n := r.IntN(len(groups))
			g := groups[n]
			var acts []agent.Act
			for range r.IntN(4) {
				a := agent.Act{
					Run: fmt.Sprint("R", n, r.IntN(2)), StepID: fmt.Sprint("s", r.IntN(2)), Kind: agent.KindAct, Tool: []string{"refund", "pay"}[r.IntN(2)],
					Target: []string{"", "a", "b"}[r.IntN(3)], Executed: r.IntN(4) > 0, Outcome: agent.OutcomeOK, Start: r.Int64N(20), Span: agent.SpanID{byte(r.IntN(256))},
				}
				if r.IntN(3) == 0 {
					a.Outcome = agent.OutcomeError
				}
				acts = append(acts, a)
			}
			before := map[*group][]string{}
			if e := x.at[keyToken{"", "k"}]; e != nil {
				for _, o := range groups {
					before[o] = looksBack(e.acts, o)
				}
			}
			got := x.replace("", "k", g, acts)
			e := x.at[keyToken{"", "k"}]
			if e == nil {
				continue
			}
			require.False(t, slices.Contains(got, g))
			affected, all = affected+len(got), all+len(groups)-1
			for i, o := range groups {
				after := looksBack(e.acts, o)
				if o != g && fmt.Sprint(after) != fmt.Sprint(before[o]) {
					require.True(t, slices.Contains(got, o), "seed %d, group %d", seed, i)
				}
			}
		}
	}
	require.Less(t, affected, all, "not all are judged again")
}
