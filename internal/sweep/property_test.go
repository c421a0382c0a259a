package sweep

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/assemble"
	"github.com/steptrail/steptrail/internal/detect"
	"github.com/steptrail/steptrail/internal/policy"
)

const propertyPolicy = `version: 1
tools:
  - {match: refund, class: act, on_unknown: reconcile, reconcile_with: [lookup]}
  - {match: cancel, class: act, approval: required}
  - {match: drop, class: act, forbidden: true}
  - {match: get, class: read}
detection: {repeat: 2, cycle_rounds: 2, stall_window: 3, quiet: 10s, in_flight: 1m, unknown_sla: 30s}
limits: [{match: {agent: "*", task_type: "*"}, steps: 9, tool_calls: 3, attempts: 2}]
redaction: {mode: pseudonym, key: "0123456789abcdef", detectors: [email]}
retention: {act: 1d, human: 1d, think: 1d, read: 1d, content: 1d, findings: 1d, access_log: 1d}
`

// drawSteps draws the spans of one to three runs with few distinct tools, keys,
// targets, arguments and step ids, so that duplicates, retries, loops and
// settlements are common, also over runs.
func drawSteps(t *rapid.T) []*agent.Step {
	pick := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(t, name) }
	var out []*agent.Step
	for run := range byte(rapid.IntRange(1, 3).Draw(t, "runs")) {
		id := ""
		if rapid.Bool().Draw(t, "explicit") {
			id = fmt.Sprint("run-", run)
		}
		out = append(out, span(id, run+1, run*40+1, 0, root))
		for n := range byte(rapid.IntRange(1, 12).Draw(t, "steps")) {
			s := span(id, run+1, run*40+2+n, run*40+1)
			s.Start = noon.UnixNano() - int64(rapid.IntRange(0, 60).Draw(t, "ago"))*1e9
			s.End = s.Start + int64(rapid.IntRange(0, 5).Draw(t, "took"))*1e9
			drawWork(t, s, pick)
			out = append(out, s)
		}
	}
	return out
}

func drawWork(t *rapid.T, s *agent.Step, pick func(string, ...string) string) {
	s.StepID = pick("step", "", "", "", "a", "b")
	switch op := rapid.IntRange(0, 9).Draw(t, "what"); {
	case op < 5:
		tool := pick("tool", "refund", "refund", "cancel", "drop", "get", "lookup", "odd")
		s.Op, s.Call.Tool, s.Call.Target = agent.OpTool, tool, pick("target", "", "order/1", "order/2")
		switch tool {
		case "refund", "cancel", "drop":
			s.Kind, s.KindSource = agent.KindAct, agent.KindSourcePolicy
			s.Call.Key, s.Call.Approval, s.Call.Forbidden = pick("key", "", "k1", "k2"), tool == "cancel", tool == "drop"
			s.Call.Gate = rapid.SampledFrom([]agent.Gate{0, 0, 0, agent.GateNew, agent.GateDuplicate}).Draw(t, "gate")
			s.Call.ReconcileWith = []string{"lookup"}
		case "get":
			s.Kind, s.KindSource = agent.KindRead, agent.KindSourcePolicy
		case "lookup":
			s.Kind, s.KindSource = agent.KindReconcile, agent.KindSourcePolicy
			s.ReconcileResult = rapid.SampledFrom([]agent.Settlement{0, agent.SettlementApplied, agent.SettlementNotApplied}).Draw(t, "found")
		}
		s.Call.Arguments, s.Call.Result = drawContent(t, "arguments"), drawContent(t, "result")
		s.Sign = rapid.SampledFrom([]agent.Sign{agent.SignOK, agent.SignOK, agent.SignLost, agent.SignRejected, agent.SignException}).Draw(t, "sign")
	case op < 8:
		s.Op, s.Kind, s.KindSource = agent.OpModel, agent.KindThink, agent.KindSourceDialect
		s.Model.Served, s.Model.Output, s.Model.Input = "m", drawContent(t, "output").Digest, drawContent(t, "input").Digest
	default:
		s.Op, s.Kind, s.KindSource = agent.OpHuman, agent.KindHuman, agent.KindSourceReported
		s.Decision = rapid.SampledFrom([]agent.Decision{0, agent.DecisionApproved, agent.DecisionRejected, agent.DecisionApplied}).Draw(t, "decision")
		s.Call.Target = pick("target", "", "order/1")
	}
}

func drawContent(t *rapid.T, name string) agent.Content {
	b := byte(rapid.IntRange(0, 3).Draw(t, name))
	if b == 0 {
		return agent.Content{}
	}
	return agent.Content{State: agent.RecordedYes, Digest: agent.Digest{b}, Size: 1}
}

// collector is the stream of one process over a store that all share.
type collector struct {
	open  *assemble.Open
	store *memStore
}

func newCollector(p *policy.Policy, m *memStore) *collector {
	judge := func(r *agent.Run, under func(string) []agent.Act, at assemble.Moment) ([]agent.Finding, int64) {
		v := detect.Judge(detect.Input{Run: r, Under: under, Policy: p, Now: at.Now, LastArrival: at.LastArrival})
		return v.Findings, v.Next
	}
	return &collector{assemble.NewTimed(assemble.Limits{}, judge), m}
}

func (c *collector) take(at time.Time, steps []*agent.Step) {
	c.store.insert(at, steps...)
	c.note(c.open.Add(assemble.Batch{Steps: steps}, at.UnixNano()))
}

func (c *collector) due(at time.Time) { c.note(c.open.Due(at.UnixNano())) }

// note writes findings as the exporter does: with version 0, which no verdict of
// the sweep gives way to.
func (c *collector) note(verdicts []assemble.Verdict) {
	for _, v := range verdicts {
		for _, f := range v.Fresh {
			if _, there := c.store.findings[f.ID]; !there {
				c.store.findings[f.ID] = agent.StoredFinding{Finding: f}
			}
		}
	}
}

// settled sweeps until nothing is left to judge.
func settled(t *rapid.T, s *Sweeper, from time.Time) {
	for n := range 30 {
		_, err := s.Tick(t.Context(), from.Add(time.Duration(n)*time.Second))
		require.NoError(t, err)
	}
}

// known is what a reader of the store sees in the end.
func known(m *memStore) ([]agent.Finding, map[string]agent.Summary) {
	var out []agent.Finding
	for _, f := range m.findings {
		if f.Status != agent.StatusWithdrawn {
			out = append(out, f.Finding)
		}
	}
	slices.SortFunc(out, func(a, b agent.Finding) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	return out, m.summaries
}

// Spans in any order, in any requests, some of them twice, over two collectors
// that do not know each other, with the sweep at work in between or not: in the
// end the store says what it says after one request and one sweep without any
// stream.
func TestAnyWayOverTwoCollectorsEndsAsTheSweepAlone(t *testing.T) {
	p, err := policy.Parse([]byte(propertyPolicy), nil)
	require.NoError(t, err)
	last := noon.Add(2 * time.Minute)
	rapid.Check(t, func(t *rapid.T) {
		steps := drawSteps(t)
		alone := newMemStore()
		alone.insert(noon, steps...)
		settled(t, New(alone, p, Config{}), last)
		wantFindings, wantRuns := known(alone)

		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1)) // not for secrets
		sent := slices.Clone(steps)
		for range rapid.IntRange(0, 4).Draw(t, "repeated") {
			sent = append(sent, steps[random.IntN(len(steps))])
		}
		random.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })
		shared := newMemStore()
		collectors := []*collector{newCollector(p, shared), newCollector(p, shared)}
		sweeper := New(shared, p, Config{})
		at := noon.Add(-30 * time.Second)
		for len(sent) > 0 && at.Before(noon) {
			n := 1 + random.IntN(len(sent))
			collectors[random.IntN(2)].take(at, sent[:n])
			sent = sent[n:]
			at = at.Add(time.Duration(random.IntN(14)) * time.Second)
			for _, c := range collectors {
				c.due(at)
			}
			if random.IntN(2) == 0 {
				_, err := sweeper.Tick(t.Context(), at)
				require.NoError(t, err)
			}
		}
		collectors[0].take(noon, sent)
		for _, c := range collectors {
			c.due(noon.Add(time.Minute))
		}
		settled(t, sweeper, last)
		gotFindings, gotRuns := known(shared)
		require.Equal(t, wantFindings, gotFindings)
		require.Equal(t, wantRuns, gotRuns)
	})
}
