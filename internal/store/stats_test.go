package store_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/store/storeseed"
)

// seeded gives a store that holds the seed's day, judged.
func seeded(t *testing.T) (*store.Store, []*agent.Step, time.Time) {
	t.Helper()
	e := enginetest.Start(t)
	s, err := store.Open(t.Context(), e.Options(), store.Config{Database: e.Database})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	now := time.Now().Truncate(time.Second)
	steps, err := storeseed.Fill(t.Context(), s, now)
	require.NoError(t, err)
	return s, steps, now
}

// tally adds up the figures of a statistic by itself, from runs that are derived
// from the raw steps, or from the list of findings.
type tally struct {
	by     []string
	bucket int64
	rows   map[string]map[string]float64
	lists  map[string][]float64
}

func (y *tally) at(started int64, group map[string]string) map[string]float64 {
	bucket := int64(0)
	if y.bucket > 0 {
		bucket = started / 1e9 / y.bucket * y.bucket
	}
	key := keyOf(bucket, group, y.by)
	if y.rows[key] == nil {
		y.rows[key] = map[string]float64{}
	}
	return y.rows[key]
}

func keyOf(bucket int64, group map[string]string, by []string) string {
	parts := []string{fmt.Sprint(bucket)}
	for _, name := range slices.Sorted(slices.Values(by)) {
		parts = append(parts, name+"="+group[name])
	}
	return strings.Join(parts, " ")
}

func (y *tally) list(started int64, group map[string]string, v float64) {
	y.at(started, group)
	bucket := int64(0)
	if y.bucket > 0 {
		bucket = started / 1e9 / y.bucket * y.bucket
	}
	key := keyOf(bucket, group, y.by)
	y.lists[key] = append(y.lists[key], v)
}

// percentile interpolates between neighbours, as spreadsheets do.
func percentile(list []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(list))
	at := q * float64(len(s)-1)
	lo := int(math.Floor(at))
	if lo+1 >= len(s) {
		return s[lo]
	}
	return s[lo] + (at-float64(lo))*(s[lo+1]-s[lo])
}

func b(v bool) float64 {
	if v {
		return 1
	}
	return 0
}

func rate(m map[string]float64, name string, of, all float64) {
	if all > 0 {
		m[name] = of / all
	}
}

var reckon = map[agent.Statistic]func(y *tally, runs []*agent.Run, sums []agent.Summary){
	agent.StatSuccess: func(y *tally, runs []*agent.Run, sums []agent.Summary) {
		extra := map[string][4]float64{}
		for i, r := range runs {
			s := &sums[i]
			m := y.at(r.Started, map[string]string{"task_type": r.TaskType, "agent": r.Agent})
			for _, name := range []string{"success", "failure", "escalated", "limit", "paused", "abandoned", "unstated"} {
				outcome := r.Outcome.String()
				if outcome == "" {
					outcome = "unstated"
				}
				m[name] += b(outcome == name)
			}
			ended := s.Status == agent.RunStatusEnded
			m["runs"]++
			m["ended"] += b(ended)
			m["stated"] += b(r.Stated)
			k := fmt.Sprintf("%p", m)
			x := extra[k]
			x[0] += b(r.Stated && r.Outcome == agent.RunOutcomeSuccess)
			x[1] += b(ended && r.Outcome == agent.RunOutcomeFailure)
			x[2] += b(ended && r.Outcome == agent.RunOutcomeUnset)
			extra[k] = x
		}
		for _, m := range y.rows {
			x := extra[fmt.Sprintf("%p", m)]
			rate(m, "success_rate", x[0], m["stated"])
			rate(m, "failure_rate", x[1], m["ended"])
			rate(m, "unstated_share", x[2], m["ended"])
		}
	},
	agent.StatEscalations: func(y *tally, runs []*agent.Run, _ []agent.Summary) {
		all := &tally{by: slices.DeleteFunc(slices.Clone(y.by), func(s string) bool { return s == "reason" }), bucket: y.bucket, rows: map[string]map[string]float64{}}
		for _, r := range runs {
			all.at(r.Started, map[string]string{"task_type": r.TaskType, "agent": r.Agent})["runs"]++
		}
		for _, r := range runs {
			if r.Outcome != agent.RunOutcomeEscalated {
				continue
			}
			g := map[string]string{"task_type": r.TaskType, "agent": r.Agent, "reason": r.Escalation}
			if r.Escalation == "" {
				g["reason"] = "unstated"
			}
			m := y.at(r.Started, g)
			m["escalated"]++
			m["runs"] = all.at(r.Started, g)["runs"]
			m["share"] = m["escalated"] / m["runs"]
		}
	},
	agent.StatSteps: func(y *tally, runs []*agent.Run, _ []agent.Summary) {
		byKind := slices.Contains(y.by, "kind")
		for _, r := range runs {
			counts := agent.CountsOf(r)
			add := func(kind string, c agent.KindCounts) {
				g := map[string]string{"task_type": r.TaskType, "agent": r.Agent, "kind": kind}
				m := y.at(r.Started, g)
				m["runs"]++
				m["steps"] += float64(c.Steps)
				m["attempts"] += float64(c.Attempts)
				m["errors"] += float64(c.Errors)
				y.list(r.Started, g, float64(c.Steps))
			}
			var sum agent.KindCounts
			for k, c := range counts {
				sum.Steps, sum.Attempts, sum.Errors = sum.Steps+c.Steps, sum.Attempts+c.Attempts, sum.Errors+c.Errors
				if byKind && c.Steps > 0 {
					add(agent.Kind(k).String(), c)
				}
			}
			if !byKind {
				add("", sum)
			}
		}
		for k, m := range y.rows {
			m["steps_per_run"], m["attempts_per_run"] = m["steps"]/m["runs"], m["attempts"]/m["runs"]
			m["steps_p50"], m["steps_p95"] = percentile(y.lists[k], .5), percentile(y.lists[k], .95)
			rate(m, "attempts_per_step", m["attempts"], m["steps"])
			rate(m, "error_rate", m["errors"], m["attempts"])
		}
	},
	agent.StatCost: usage, agent.StatTokens: usage,
	agent.StatToolErrors: func(y *tally, runs []*agent.Run, _ []agent.Summary) {
		eachAttempt(runs, func(r *agent.Run, st *agent.RunStep, a *agent.Attempt) {
			if a.Tool == "" || st.Kind != agent.KindRead && st.Kind != agent.KindAct && st.Kind != agent.KindReconcile {
				return
			}
			m := y.at(r.Started, map[string]string{
				"task_type": r.TaskType, "agent": r.Agent, "tool": a.Tool, "kind": st.Kind.String(), "error_type": a.ErrorType,
			})
			m["attempts"] += b(a.Executed)
			m["ok"] += b(a.Executed && a.Outcome == agent.OutcomeOK)
			m["error"] += b(a.Executed && a.Outcome == agent.OutcomeError)
			m["unknown"] += b(a.Executed && a.Outcome == agent.OutcomeUnknown)
			m["refused"] += b(a.Outcome == agent.OutcomeRefused)
			m["deferred"] += b(a.Outcome == agent.OutcomeDeferred)
		})
		for _, m := range y.rows {
			rate(m, "error_rate", m["error"]+m["unknown"], m["attempts"])
		}
	},
	agent.StatLatency: func(y *tally, runs []*agent.Run, _ []agent.Summary) {
		eachAttempt(runs, func(r *agent.Run, st *agent.RunStep, a *agent.Attempt) {
			if a.Executed && !a.NoSpan {
				prompt := ""
				if st.Op == agent.OpModel {
					prompt = a.Step().Model.PromptVersion
				}
				y.list(r.Started, map[string]string{
					"task_type": r.TaskType, "agent": r.Agent, "tool": a.Tool, "kind": st.Kind.String(), "model": agent.ModelOf(st, a), "prompt_version": prompt,
				}, float64(a.End-a.Start)/1e6)
			}
		})
		for k, m := range y.rows {
			l := y.lists[k]
			sum := 0.0
			for _, v := range l {
				sum += v
			}
			m["attempts"], m["avg_ms"], m["max_ms"] = float64(len(l)), sum/float64(len(l)), slices.Max(l)
			m["p50_ms"], m["p95_ms"], m["p99_ms"] = percentile(l, .5), percentile(l, .95), percentile(l, .99)
		}
	},
}

func eachAttempt(runs []*agent.Run, f func(*agent.Run, *agent.RunStep, *agent.Attempt)) {
	for _, r := range runs {
		for i := range r.Steps {
			for j := range r.Steps[i].Attempts {
				f(r, &r.Steps[i], &r.Steps[i].Attempts[j])
			}
		}
	}
}

func usage(y *tally, runs []*agent.Run, _ []agent.Summary) {
	add := func(m map[string]float64, op, all agent.Usage) {
		m["operation_cost_usd"] += float64(op.CostNano) / 1e9
		m["attempt_cost_usd"] += float64(all.CostNano) / 1e9
		m["operation_input"] += float64(op.Tokens.Input)
		m["operation_output"] += float64(op.Tokens.Output)
		m["attempt_input"] += float64(all.Tokens.Input)
		m["attempt_output"] += float64(all.Tokens.Output)
		m["attempt_cache_read"] += float64(all.Tokens.CacheRead)
		m["attempt_cache_write"] += float64(all.Tokens.CacheWrite)
		m["attempt_reasoning"] += float64(all.Tokens.Reasoning)
	}
	if !slices.Contains(y.by, "model") && !slices.Contains(y.by, "prompt_version") {
		for _, r := range runs {
			op, all := agent.UsageOf(r)
			m := y.at(r.Started, map[string]string{"task_type": r.TaskType, "agent": r.Agent})
			m["runs"]++
			m["runs_with_tokens"] += b(all.Tokens.Known)
			m["runs_with_cost"] += b(all.CostSource != agent.CostSourceUnset)
			add(m, op, all)
		}
	} else {
		seen := map[string]bool{}
		for _, r := range runs {
			for i := range r.Steps {
				st := &r.Steps[i]
				for j := range st.Attempts {
					a := &st.Attempts[j]
					if !a.Tokens.Known {
						continue
					}
					prompt := a.Step().Model.PromptVersion
					g := map[string]string{"task_type": r.TaskType, "agent": r.Agent, "model": agent.ModelOf(st, a), "prompt_version": prompt}
					m := y.at(r.Started, g)
					if k := fmt.Sprintf("%p %s", m, r.ID); !seen[k] {
						seen[k] = true
						m["runs"]++
						m["runs_with_tokens"]++
						m["runs_with_cost"]++
					}
					u := agent.Usage{Tokens: a.Tokens, CostNano: a.CostNano}
					op := agent.Usage{}
					if j == len(st.Attempts)-1 {
						op = u
					}
					add(m, op, u)
				}
			}
		}
	}
	for _, m := range y.rows {
		m["attempt_cost_usd_per_run"] = m["attempt_cost_usd"] / m["runs"]
		m["attempt_tokens_per_run"] = (m["attempt_input"] + m["attempt_output"]) / m["runs"]
	}
}

func TestStatisticsAreWhatTheRawStepsAddUpTo(t *testing.T) {
	s, steps, now := seeded(t)
	runs := agent.Runs(agent.Input{Steps: steps, Quiet: true, Silent: true})
	require.Greater(t, len(runs), 40)
	sums := make([]agent.Summary, len(runs))
	for i, r := range runs {
		sums[i] = agent.Summarise(r, nil, agent.SummaryTime{Now: now.Add(3 * time.Hour).UnixNano(), LastArrival: now.UnixNano(), Quiet: 1e9})
	}
	r := s.Tenant(storeseed.Tenant)
	for what, groups := range agent.Statistics() {
		if what == agent.StatFindings {
			continue
		}
		for _, bucket := range []int64{0, 3600 * 6} {
			for _, by := range [][]string{nil, {"task_type"}, {"agent", groups[2]}, groups} {
				if what == agent.StatSuccess {
					by = slices.DeleteFunc(slices.Clone(by), func(s string) bool { return s == "model" || s == "prompt_version" })
				}
				name := fmt.Sprint(what, " by ", by, " every ", bucket)
				y := &tally{by: by, bucket: bucket, rows: map[string]map[string]float64{}, lists: map[string][]float64{}}
				reckon[what](y, runs, sums)
				got, err := r.Stats(t.Context(), what, agent.StatsFilter{Bucket: bucket, By: by})
				require.NoError(t, err, name)
				sameFigures(t, y, got, name)
			}
		}
	}
	none, err := s.Tenant("another").Stats(t.Context(), agent.StatCost, agent.StatsFilter{})
	require.NoError(t, err)
	require.Empty(t, none)
}

func sameFigures(t *testing.T, y *tally, got []agent.StatsRow, name string) {
	t.Helper()
	require.Len(t, got, len(y.rows), name)
	for _, row := range got {
		want := y.rows[keyOf(row.Bucket, row.Group, y.by)]
		require.NotNil(t, want, "%s: %v", name, row)
		require.Len(t, row.Group, len(y.by), name)
		require.ElementsMatch(t, names(want), names(row.Figures), "%s: %v", name, row.Group)
		for k, v := range want {
			require.InDelta(t, v, row.Figures[k], 1e-9+1e-9*math.Abs(v), "%s: %s of %v", name, k, row.Group)
		}
	}
}

func names(m map[string]float64) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

func TestStatisticsOfFindingsAreThoseOfTheList(t *testing.T) {
	s, _, _ := seeded(t)
	r := s.Tenant(storeseed.Tenant)
	list, err := r.Findings(t.Context(), store.FindingFilter{})
	require.NoError(t, err)
	by := []string{"kind", "severity", "tool", "status"}
	y := &tally{by: by, rows: map[string]map[string]float64{}}
	of := map[string]map[string]bool{}
	for i := range list {
		f := &list[i]
		if f.Status == agent.StatusWithdrawn {
			continue
		}
		g := map[string]string{"kind": f.Kind, "severity": f.Severity.String(), "tool": f.Tool, "status": f.Status.String()}
		m := y.at(0, g)
		k := keyOf(0, g, by)
		if of[k] == nil {
			of[k] = map[string]bool{}
		}
		of[k][f.Run] = true
		m["findings"]++
		m["open"] += b(f.Status == agent.StatusOpen)
		m["resolved"] += b(f.Status == agent.StatusResolved)
		m["runs"] = float64(len(of[k]))
		m["waste_attempts"] += float64(f.Waste.Attempts)
		m["waste_tokens"] += float64(f.Waste.Tokens)
		m["waste_duration_ms"] += float64(f.Waste.Duration) / 1e6
		m["waste_cost_usd"] += float64(f.Waste.CostNano) / 1e9
	}
	got, err := r.Stats(t.Context(), agent.StatFindings, agent.StatsFilter{By: by})
	require.NoError(t, err)
	sameFigures(t, y, got, "findings")
	kinds := map[string]bool{}
	for _, row := range got {
		kinds[row.Group["kind"]] = true
	}
	for _, kind := range []string{"key.duplicate", "outcome.unknown", "outcome.unsafe_retry", "key.missing", "loop.repeat", "retry.storm"} {
		require.True(t, kinds[kind], "the seed has no %s: %v", kind, kinds)
	}
}

func TestStatisticsObeyTheirFilters(t *testing.T) {
	s, steps, now := seeded(t)
	runs := agent.Runs(agent.Input{Steps: steps, Quiet: true, Silent: true})
	from := now.Add(-12 * time.Hour)
	want := 0
	for _, r := range runs {
		if r.TaskType == "refund" && r.Started >= from.UnixNano() {
			want++
		}
	}
	got, err := s.Tenant(storeseed.Tenant).Stats(t.Context(), agent.StatSuccess, agent.StatsFilter{From: from.UnixNano(), TaskType: "refund"})
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.InDelta(t, want, got[0].Figures["runs"], 0)
	for what := range agent.Statistics() { // hostile values are values
		got, err := s.Tenant(storeseed.Tenant).Stats(t.Context(), what, agent.StatsFilter{
			Agent: "' OR 1=1 --\n", Tool: "{tenant:String}", Model: "\\'; DROP TABLE runs", TaskType: "\x00\t",
		})
		require.NoError(t, err, what)
		require.Empty(t, got, what)
	}
}
