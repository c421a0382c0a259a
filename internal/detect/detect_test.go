package detect_test

import (
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/detect"
	"github.com/steptrail/steptrail/internal/policy"
)

const second = int64(1e9)

// made builds spans of one run by hand, where a scenario cannot say what is
// needed.
type made struct{ steps []*agent.Step }

func (m *made) root(end int64) {
	m.steps = append(m.steps, &agent.Step{
		Tenant: "t", Unit: "r", RunID: "r", Trace: agent.TraceID{1}, Span: agent.SpanID{0xff}, Op: agent.OpAgent, Agent: "clerk",
		Start: second, End: end, Received: end, Index: -1, Sign: agent.SignOK,
	})
}

func (m *made) act(start int64, change func(*agent.Step)) *agent.Step {
	n := len(m.steps)
	s := &agent.Step{
		Tenant: "t", Unit: "r", RunID: "r", Trace: agent.TraceID{1}, Span: agent.SpanID{byte(n), byte(n >> 8), 1}, Parent: agent.SpanID{0xff},
		Op: agent.OpTool, Kind: agent.KindAct, KindSource: agent.KindSourceReported, Start: start, End: start + second, Received: start + second, Index: -1,
		Call: agent.Call{Tool: "pay", Key: "k1", Target: "inv/1"}, Sign: agent.SignOK,
	}
	if change != nil {
		change(s)
	}
	m.steps = append(m.steps, s)
	return s
}

func (m *made) run(t testing.TB) *agent.Run {
	t.Helper()
	runs := agent.Runs(agent.Input{Steps: m.steps, Quiet: true, Silent: true})
	require.Len(t, runs, 1)
	return runs[0]
}

func ofKind(found []agent.Finding, kind string) (out []agent.Finding) {
	for _, f := range found {
		if f.Kind == kind {
			out = append(out, f)
		}
	}
	return out
}

func TestAPolicysRuleIsRaisedOncePerRun(t *testing.T) {
	var m made
	m.root(20 * second)
	m.act(2*second, func(s *agent.Step) { s.Rules = []string{"bypassed"} })
	m.act(4*second, func(s *agent.Step) { s.Rules, s.Call.Key = []string{"bypassed", "gone"}, "k2" })
	p := parsePolicy(t, strings.Replace(strings.ReplaceAll(basePolicy, "%s", "5m"), "\nretention",
		"\nrules: [{name: bypassed, severity: critical, condition: 'true', message: the guardrail was bypassed}]\nretention", 1))
	found := detect.Run(detect.Input{Run: m.run(t), Policy: p})
	bypassed := ofKind(found, "rule.bypassed")
	require.Len(t, bypassed, 1)
	require.Equal(t, agent.SeverityCritical, bypassed[0].Severity)
	require.Equal(t, "the guardrail was bypassed", bypassed[0].Message)
	require.Len(t, bypassed[0].Evidence, 2)
	require.NotEmpty(t, bypassed[0].Agent, "of the step, or of the run")
	require.NotEmpty(t, bypassed[0].Step)
	gone := ofKind(found, "rule.gone") // a rule that the policy no longer has
	require.Len(t, gone, 1)
	require.Equal(t, agent.SeverityWarning, gone[0].Severity)
}

func TestWhatAPersonSaidAfterwardsResolvesAnUnknownOutcome(t *testing.T) {
	var m made
	m.root(20 * second)
	lost := m.act(2*second, func(s *agent.Step) { s.Sign = agent.SignLost })
	r := m.run(t)
	open := ofKind(detect.Run(detect.Input{Run: r}), "outcome.unknown")
	require.Len(t, open, 1)
	require.Equal(t, agent.StatusOpen, open[0].Status)
	said := agent.Resolution{Unit: "r", Trace: lost.Trace, Span: lost.Span, Way: agent.SettlementApplied, At: 30 * second}
	resolved := ofKind(detect.Run(detect.Input{Run: r, Resolutions: []agent.Resolution{said}}), "outcome.unknown")
	require.Len(t, resolved, 1)
	require.Equal(t, agent.StatusResolved, resolved[0].Status)
	require.Equal(t, open[0].ID, resolved[0].ID)
	other := said
	other.Span = agent.SpanID{9, 9}
	require.Equal(t, agent.StatusOpen, ofKind(detect.Run(detect.Input{Run: r, Resolutions: []agent.Resolution{other}}), "outcome.unknown")[0].Status)
}

func TestAVerdictSaysWhenTimeMayChangeIt(t *testing.T) {
	p, err := policy.Parse([]byte(strings.ReplaceAll(basePolicy, "%s", "5m")), nil)
	require.NoError(t, err)
	var m made
	m.root(4 * second)
	m.act(2*second, func(s *agent.Step) { s.Call.Key = "" })
	r := m.run(t)
	judge := func(now int64) detect.Verdict {
		return detect.Judge(detect.Input{Run: r, Policy: p, Now: now, LastArrival: 4 * second})
	}
	early := judge(3*second + second/2) // the span came at 3 s, and settle is 1 s
	require.Empty(t, ofKind(early.Findings, "key.missing"))
	require.Equal(t, 4*second, early.Next)
	settled := judge(early.Next)
	require.Len(t, ofKind(settled.Findings, "key.missing"), 1)
	require.Zero(t, settled.Next)

	var u made
	u.root(4 * second)
	u.act(2*second, func(s *agent.Step) { s.Sign = agent.SignLost })
	r = u.run(t)
	open := judge(10 * second)
	require.Equal(t, agent.SeverityWarning, ofKind(open.Findings, "outcome.unknown")[0].Severity)
	require.Equal(t, 303*second+1, open.Next) // ended at 3 s, and unknown_sla is 5 m
	overdue := judge(open.Next)
	require.Equal(t, agent.SeverityCritical, ofKind(overdue.Findings, "outcome.unknown")[0].Severity)
	require.Zero(t, overdue.Next)
}

func TestAMessageIsOneLineOfPlainText(t *testing.T) {
	hostile := "pay\x1b[31m\r\n\x00{{.}}\u202e\u2028<script>" + strings.Repeat("x", 5000)
	var m made
	m.root(90 * second)
	for i := range int64(6) {
		m.act((2+2*i)*second, func(s *agent.Step) {
			s.StepID, s.Attempt = hostile, int32(i)+1 // small
			s.Call.Tool, s.Call.Target, s.Call.Key = hostile, hostile, hostile+string(rune('a'+i))
			s.Sign, s.ErrorType, s.ErrorText = agent.SignLost, hostile, hostile
			s.Call.Forbidden, s.Call.Approval = true, true
			s.Rules = []string{hostile}
		})
	}
	found := detect.Run(detect.Input{Run: m.run(t), Now: 1 << 60, LastArrival: 90 * second})
	require.NotEmpty(t, found)
	for i := range found {
		requireSound(t, &found[i])
		for _, c := range found[i].Message {
			require.True(t, unicode.IsPrint(c) || c == ' ', "%s: %q", found[i].Kind, found[i].Message)
		}
	}
}

func TestDetectorsLeaveARunAlone(t *testing.T) {
	require.Nil(t, detect.Run(detect.Input{}))
	var m made
	m.root(20 * second)
	require.Empty(t, detect.Run(detect.Input{Run: m.run(t)}))
}

func TestEveryKindIsNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range detect.Kinds() {
		require.False(t, seen[k], k)
		seen[k] = true
	}
	require.Len(t, seen, 25)
}

func BenchmarkJudge(b *testing.B) {
	p, err := policy.Parse([]byte(strings.ReplaceAll(basePolicy, "%s", "5m")), nil)
	require.NoError(b, err)
	for _, size := range []struct {
		name string
		n    int
	}{{"12 steps", 12}, {"1000 steps", 1000}, {"100000 steps", 100_000}} {
		b.Run(size.name, func(b *testing.B) {
			var m made
			m.root(int64(size.n+9) * second)
			for i := range int64(size.n) {
				m.act((2+i)*second, func(s *agent.Step) {
					switch i % 4 {
					case 0, 2:
						s.Op, s.Kind, s.Call = agent.OpModel, agent.KindThink, agent.Call{}
						s.Model.Tokens = agent.Tokens{Known: true, Input: 900 + i%100, Output: 40}
					case 1:
						s.Kind, s.Call = agent.KindRead, agent.Call{Tool: "get"}
						s.Call.Arguments = agent.Content{State: agent.RecordedYes, Digest: agent.Digest{1, byte(i), byte(i >> 8), byte(i >> 16)}}
						s.Call.Result = agent.Content{State: agent.RecordedYes, Digest: agent.Digest{2, byte(i), byte(i >> 8), byte(i >> 16)}}
					default:
						s.Call.Key, s.Call.Target = "k"+string(rune(i)), "t"+string(rune(i))
						s.Call.Arguments = agent.Content{State: agent.RecordedYes, Digest: agent.Digest{3, byte(i), byte(i >> 8), byte(i >> 16)}}
					}
				})
			}
			r := m.run(b)
			in := detect.Input{Run: r, Policy: p, Now: r.Ended + second*60, LastArrival: r.Ended}
			b.ReportAllocs()
			before := cpu()
			for b.Loop() {
				detect.Run(in)
			}
			b.ReportMetric(float64(cpu()-before)/float64(b.N)/float64(size.n), "cpu-ns/step")
		})
	}
}

// cpu is the processor time that this process took, in nanoseconds: other
// programs on the machine do not disturb it.
func cpu() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
