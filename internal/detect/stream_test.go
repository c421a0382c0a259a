package detect_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/assemble"
	"github.com/steptrail/steptrail/internal/detect"
)

// The stream sees a run span by span, in any order, and ends with the findings of
// the sweep, but for what only quiet and time can raise.
func TestTheStreamEndsWithTheFindingsOfTheSweep(t *testing.T) {
	forEachScenario(t, func(t *testing.T, s *scenario) {
		t.Helper()
		requireAgreement(t, s, 3)
	})
}

func TestTheStreamEndsWithTheFindingsOfTheSweepOnTheSharedCases(t *testing.T) {
	for _, folder := range []string{"cases", "cases-random"} {
		for _, c := range loadCases(t, shared(t, folder)) {
			t.Run(c.Name, func(t *testing.T) { requireAgreement(t, &scenario{caseFile: c, later: time.Minute}, 1) })
		}
	}
}

func requireAgreement(t *testing.T, s *scenario, seeds uint64) {
	t.Helper()
	m := spanMaker{c: &s.caseFile, base: scenarioBase}
	p := process(t, policyText(t, []caseFile{s.caseFile}, "5m"), requests(m.convert(), 1, nil))
	swept := sweepFindings(p, s)
	for seed := range seeds {
		streamed := streamFindings(p, s, seed)
		for id, f := range streamed {
			want, ok := swept[id]
			require.True(t, ok, "only the stream has %s: %s", f.Kind, f.Message)
			require.Equal(t, want.Severity, f.Severity, f.Kind)
			require.Equal(t, want.Status, f.Status, f.Kind)
			require.Equal(t, want.Message, f.Message)
		}
		quiet := map[string]bool{} // unknown outcomes that only quiet tells
		for id, f := range swept {
			if _, ok := streamed[id]; !ok && f.Kind == "outcome.unknown" {
				quiet[f.Anchor] = true
			}
		}
		for id, f := range swept {
			if !quiet[f.Anchor] && f.Kind != "run.stalled" {
				require.Contains(t, streamed, id, "only the sweep has %s: %s", f.Kind, f.Message)
			}
		}
	}
}

func lastEnd(steps []*agent.Step) (last int64) {
	for _, s := range steps {
		last = max(last, s.End, s.Start)
	}
	return last
}

func sweepFindings(p *pipe, s *scenario) map[agent.FindingID]agent.Finding {
	in := p.input
	in.Quiet, in.Silent = true, true
	runs := agent.Runs(in)
	var acts []agent.Act
	for _, r := range runs {
		acts = append(acts, agent.Acts(r)...)
	}
	last := lastEnd(in.Steps)
	out := map[agent.FindingID]agent.Finding{}
	for _, r := range runs {
		for _, f := range detect.Run(detect.Input{Run: r, Under: under(acts), Policy: p.policy, Now: last + int64(s.later), LastArrival: last}) {
			out[f.ID] = f
		}
	}
	return out
}

// streamFindings gives what holds in the end of runs whose spans come one or a
// few at a time.
func streamFindings(p *pipe, s *scenario, seed uint64) map[agent.FindingID]agent.Finding {
	random := rand.New(rand.NewPCG(seed, 3)) // not for secrets
	steps := append([]*agent.Step(nil), p.input.Steps...)
	random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	open := assemble.NewTimed(assemble.Limits{}, func(r *agent.Run, under func(string) []agent.Act, at assemble.Moment) ([]agent.Finding, int64) {
		v := detect.Judge(detect.Input{Run: r, Under: under, Policy: p.policy, Now: at.Now, LastArrival: at.LastArrival})
		return v.Findings, v.Next
	})
	last := lastEnd(steps)
	byRun := map[string][]agent.Finding{}
	note := func(verdicts []assemble.Verdict) {
		for _, v := range verdicts {
			byRun[v.Run] = v.Findings
		}
	}
	for len(steps) > 0 {
		n := 1 + random.IntN(min(3, len(steps)))
		note(open.Add(assemble.Batch{Steps: steps[:n], Facts: p.input.Facts}, last))
		steps = steps[n:]
	}
	for at := last; at <= last+int64(s.later); at += 250_000_000 {
		note(open.Due(at))
	}
	out := map[agent.FindingID]agent.Finding{}
	for _, found := range byRun {
		for _, f := range found {
			out[f.ID] = f
		}
	}
	return out
}
