package assemble

import (
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// judgeGroup derives the runs of a group and judges them, then the runs of other
// groups whose findings depend on what changed here; those that were judged a lot
// lately wait for it. It ends because a group's acts change only by what came since
// its last judgement.
func (o *Open) judgeGroup(g *group, now int64) {
	for todo := []*group{g}; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		if next != g {
			if next.gone || next.late || next.size() == 0 {
				continue
			}
			o.touch(next)
			if !o.hasCredit(next) {
				o.want(next, now)
				continue
			}
		}
		todo = append(todo, o.judgeOne(next, now)...)
	}
}

func (o *Open) judgeOne(g *group, now int64) (affected []*group) {
	o.stats.Judged++
	o.loosen(g)
	g.credit -= len(g.steps)
	runs := agent.Runs(agent.Input{Steps: g.steps, Facts: g.facts, Logs: g.logs})
	affected = o.recordActs(g, runs)
	g.verdicts = make([]Verdict, 0, len(runs))
	g.again = 0
	for _, r := range runs {
		v := Verdict{Tenant: r.Tenant, Run: r.ID, Units: r.Units}
		if o.judge != nil {
			var again int64
			v.Findings, again = o.judge(r, func(key string) []agent.Act { return o.keys.under(r.Tenant, key, r.ID) }, Moment{Now: now, LastArrival: g.touched})
			if again != 0 && (g.again == 0 || again < g.again) {
				g.again = again
			}
		}
		g.verdicts = append(g.verdicts, v)
	}
	g.pending, g.wanted, g.hot, g.noted = 0, false, false, false
	g.judged, g.as = len(g.steps), g.identity()
	if g.watch != nil {
		g.watch.judged(g, runs)
		if quiet := g.touched + o.watch.quiet; g.hasFindings() && now < quiet { // their last state
			g.again = earlier(g.again, quiet)
		}
		o.weigh(g)
	}
	return affected
}

// recordActs writes the group's acts into the index of keys.
func (o *Open) recordActs(g *group, runs []*agent.Run) (affected []*group) {
	var keys []string
	var under map[string][]agent.Act
	for _, r := range runs {
		for i := range r.Steps {
			st := &r.Steps[i]
			if st.Kind != agent.KindAct {
				continue
			}
			for j := range st.Attempts {
				a := &st.Attempts[j]
				if a.Key == "" {
					continue
				}
				if under == nil {
					under = map[string][]agent.Act{}
				}
				if under[a.Key] == nil {
					keys = append(keys, a.Key)
				}
				under[a.Key] = append(under[a.Key], agent.ActOf(r, st, a))
			}
		}
	}
	for _, k := range g.keys {
		if under[k] == nil {
			affected = append(affected, o.keys.replace(g.tenant, k, g, nil)...)
		}
	}
	for _, k := range keys {
		acts := under[k]
		slices.SortStableFunc(acts, func(x, y agent.Act) int { return compareKeyActs(keyAct{act: x}, keyAct{act: y}) })
		affected = append(affected, o.keys.replace(g.tenant, k, g, acts)...)
	}
	g.keys = keys
	return affected
}

// isAwaited reports whether the judge asked to look again by now.
func (g *group) isAwaited(now int64) bool {
	return g.again != 0 && now >= g.again && !g.late && g.size() > 0
}
