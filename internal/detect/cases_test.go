package detect_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/detect"
)

func TestTheSharedCasesGetTheirLabels(t *testing.T) {
	scoreFolder(t, shared(t, "cases"), 1, 0)
}

func TestTheSharedCasesGetTheirLabelsInAnyOrder(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		scoreFolder(t, shared(t, "cases"), 3, seed)
	}
}

func TestTheGeneratedCasesGetTheirLabels(t *testing.T) {
	scoreFolder(t, shared(t, "cases-random"), 1, 0)
	scoreFolder(t, shared(t, "cases-random"), 7, 3)
}

// runResult is what came of one run.
type runResult struct {
	run      *agent.Run
	findings []agent.Finding
	summary  agent.Summary
}

// judgeCases sends all cases through one pipe and judges their runs when they
// are quiet, as score.py does with the binary.
func judgeCases(t testing.TB, cases []caseFile, sla string, split int, seed uint64) map[string]*runResult {
	t.Helper()
	var random *rand.Rand
	if seed != 0 {
		random = rand.New(rand.NewPCG(seed, seed)) // not for secrets
	}
	const base = 1_760_000_000_000_000_000
	var bodies []ptrace.Traces
	for i := range cases {
		m := spanMaker{c: &cases[i], base: base}
		bodies = append(bodies, requests(m.convert(), split, random)...)
	}
	p := process(t, policyText(t, cases, sla), bodies)
	p.input.Quiet, p.input.Silent = true, true
	runs := agent.Runs(p.input)
	var acts []agent.Act
	for _, r := range runs {
		acts = append(acts, agent.Acts(r)...)
	}
	out := map[string]*runResult{}
	for _, r := range runs {
		res := &runResult{run: r}
		res.findings = detect.Run(detect.Input{Run: r, Under: under(acts), Policy: p.policy, Now: r.Ended + 60e9, LastArrival: r.Ended})
		res.summary = agent.Summarise(r, res.findings, agent.SummaryTime{Now: r.Ended + 60e9, LastArrival: r.Ended, Quiet: 2e9})
		out[r.ID] = res
	}
	return out
}

type tally struct{ right, missed, wrong int }

func scoreFolder(t *testing.T, folder string, split int, seed uint64) {
	t.Helper()
	cases := loadCases(t, folder)
	results := judgeCases(t, cases, "24h", split, seed)
	perKind := map[string]*tally{}
	kind := func(k string) *tally {
		if perKind[k] == nil {
			perKind[k] = &tally{}
		}
		return perKind[k]
	}
	passed, scored := 0, 0
	for i := range cases {
		c := &cases[i]
		missing, wrong, problems := judgeCase(c, results)
		if len(problems) > 0 && c.Debatable != "" {
			t.Logf("debatable: %s: %s", c.Name, strings.Join(problems, "; "))
			continue
		}
		scored++
		for _, w := range c.Expect.Findings {
			if slices.Contains(missing, w.Kind+" in "+w.Run) {
				kind(w.Kind).missed++
			} else {
				kind(w.Kind).right++
			}
		}
		for _, w := range wrong {
			k, _, _ := strings.Cut(w, " ")
			kind(k).wrong++
		}
		if len(problems) == 0 {
			passed++
			continue
		}
		t.Errorf("%s: %s", c.Name, strings.Join(problems, "; "))
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-24s %6s %6s %6s\n", "kind", "right", "missed", "false")
	for _, k := range sortedKeys(perKind) {
		fmt.Fprintf(&table, "%-24s %6d %6d %6d\n", k, perKind[k].right, perKind[k].missed, perKind[k].wrong)
	}
	t.Logf("split %d, seed %d: %d of %d pass\n%s", split, seed, passed, scored, table.String())
}

func matches(kind, pattern string) bool {
	return pattern == "*" || kind == pattern || strings.HasSuffix(pattern, ".*") && strings.HasPrefix(kind, pattern[:len(pattern)-1])
}

// judgeCase judges as score.py does: what is missing, what should not be there,
// and what else is wrong.
func judgeCase(c *caseFile, results map[string]*runResult) (missing, wrong, problems []string) {
	for _, r := range c.Runs {
		if results[r.ID] == nil {
			return nil, nil, []string{"run " + r.ID + " not found"}
		}
	}
	for _, w := range c.Expect.Findings {
		found := false
		res := results[w.Run]
		for i := range res.findings {
			f := &res.findings[i]
			found = found || matches(f.Kind, w.Kind) && (w.Severity == "" || f.Severity.String() == w.Severity) &&
				(w.Status == "" || f.Status.String() == w.Status) && strings.Contains(f.Message, w.Message)
		}
		if !found {
			missing = append(missing, w.Kind+" in "+w.Run)
		}
	}
	for _, r := range c.Runs {
		for _, f := range results[r.ID].findings {
			unwanted := slices.ContainsFunc(c.Expect.Absent, func(a string) bool { return matches(f.Kind, a) })
			expected := slices.ContainsFunc(c.Expect.Findings, func(w wanted) bool { return matches(f.Kind, w.Kind) && w.Run == r.ID })
			if unwanted && !expected {
				wrong = append(wrong, f.Kind+" in "+r.ID+": "+f.Message)
			}
		}
	}
	for _, m := range missing {
		problems = append(problems, "missing "+m)
	}
	for _, w := range wrong {
		problems = append(problems, "not wanted "+w)
	}
	for _, step := range sortedKeys(c.Expect.Attempts) {
		run, id := c.Runs[0].ID, step
		if i := strings.LastIndexByte(step, '/'); i >= 0 {
			run, id = step[:i], step[i+1:]
		}
		n := 0
		for i := range results[run].run.Steps {
			if results[run].run.Steps[i].ID == id {
				n += len(results[run].run.Steps[i].Attempts)
			}
		}
		if n != c.Expect.Attempts[step] {
			problems = append(problems, fmt.Sprintf("%d attempts of %s, not %d", n, id, c.Expect.Attempts[step]))
		}
	}
	if c.Expect.UnknownOpen != nil {
		var n int64
		for _, r := range c.Runs {
			n += results[r.ID].summary.UnknownOpen
		}
		if n != *c.Expect.UnknownOpen {
			problems = append(problems, fmt.Sprintf("%d unknown open, not %d", n, *c.Expect.UnknownOpen))
		}
	}
	return missing, wrong, problems
}
