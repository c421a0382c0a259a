package assemble

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// looksBack says for each act of a group what findings under a key depend on: the
// nearest earlier act of another step, and the nearest earlier one of its tool and
// target that took effect.
func looksBack(list []keyAct, g *group) (all []string) {
	for i := range list {
		if list[i].by.group != g {
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

// A key outlives its groups, and keeps none of them alive, nor the text that their
// steps were packed in.
func TestAKeyKeepsNothingOfAGroupThatIsGone(t *testing.T) {
	o := New(Limits{}, nil)
	var last *group
	for i := range 3 {
		s := &agent.Step{
			Unit: fmt.Sprint("unit", i), Trace: agent.TraceID{byte(i + 1)}, Span: agent.SpanID{1}, Op: agent.OpTool, Kind: agent.KindAct,
			KindSource: agent.KindSourcePolicy, StepID: "step", Agent: "desk", Start: int64(i), Call: agent.Call{Tool: "refund", Target: "order/1", Key: "k"},
		}
		o.Add(Batch{Steps: []*agent.Step{s}}, int64(i))
		last = o.loose.newest
	}
	e := o.keys.at[keyToken{"", "k"}]
	require.Len(t, e.acts, 3)
	require.NotNil(t, e.first.group)
	theirs := map[*byte]bool{}
	var texts [texts]*string
	for g := o.loose.oldest; g != nil; g = g.newer {
		for _, s := range g.steps {
			pointers(s, &texts)
			for _, p := range texts {
				theirs[unsafe.StringData(*p)] = *p != ""
			}
		}
	}
	first := o.loose.oldest
	merged := o.merge(first, last)
	require.Same(t, merged, e.acts[0].by.group)
	require.Same(t, merged, e.acts[2].by.group)
	for o.loose.oldest != nil {
		o.let(o.loose.oldest)
	}
	require.Nil(t, e.first.group)
	for i := range e.acts {
		a := &e.acts[i].act
		require.Nil(t, e.acts[i].by.group)
		for _, s := range []string{a.Run, a.Unit, a.StepID, a.Agent, a.Tool, a.Target, a.Key} {
			require.NotEmpty(t, s)
			require.False(t, theirs[unsafe.StringData(s)], s)
		}
	}
	o.keys.dropOldest()
	require.Zero(t, o.keys.bytes)
}
