package canon

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
)

// full is a record with everything that facts hold.
func full() *Record {
	digest := func(n byte) agent.Digest { return agent.Digest{n, 1} }
	rec := &Record{
		Step: agent.Step{
			Dialect: "otel_genai", Op: agent.OpTool, Kind: agent.KindAct, KindSource: agent.KindSourcePolicy, Sign: agent.SignLost,
			DialectRun: "run", DialectRunWeak: true, DialectStep: "activity-1", Checkpoint: "agent:1", HandoffTo: "billing",
			Facts:    "\x00call facts",
			Received: 1_790_000_000_123_456_789, Expires: 1_800_000_000, ContentExpires: -5, Rules: []string{"a", "b"},
			Call: agent.Call{
				ReconcileWith: []string{"lookup_*"}, Repeatable: true, Approval: true, Forbidden: true, OutputFunction: true, Effect: agent.EffectMutating,
				Arguments: agent.Content{State: agent.RecordedYes, Digest: digest(1), Ref: agent.Ref{9}, Size: 17},
				Result:    agent.Content{State: agent.RecordedOpaque, Ref: agent.Ref{8}, Size: 1 << 40},
			},
			Model: agent.Model{CostNano: 123, CostSource: agent.CostSourceComputed, ContextHash: agent.Hash{1, 2}, Input: digest(4), Output: digest(5)},
		},
		Facts: []agent.MessageFacts{
			{
				Ref: agent.Ref{1}, Role: agent.RoleAssistant, Text: digest(6),
				Calls: []agent.RequestedCall{{
					ID: "c1", Tool: "f", Arguments: agent.Content{State: agent.RecordedYes, Digest: digest(7), Size: 3},
					Kind: agent.KindRead, KindSource: agent.KindSourcePolicy, OutputFunction: true,
				}, {}},
			},
			{
				Ref: agent.Ref{2}, Role: agent.RoleTool, UserText: true,
				Answers: []agent.CallAnswer{{ID: "c1", Tool: "f", Result: agent.Content{State: agent.RecordedYes, Digest: digest(8)}, Sign: agent.SignReceipt}},
			},
		},
		arguments: `{"a":1}`, result: "r", content: [contentSlots]string{"system", `[{"x":1}, {"y":2}]`, ""},
	}
	rec.Step.Call.ArgumentsSent, rec.Step.Call.ResultSent = digest(2), digest(3)
	rec.stated = Stated{
		Dialect: "otel_genai", Op: agent.OpTool, DialectRun: "run", DialectRunWeak: true, DialectStep: "activity-1", Checkpoint: "agent:1",
		HandoffTo: "billing", OutputFunction: true, Effect: agent.EffectMutating, Ended: true,
	}
	rec.layout.segments = [contentSlots][]segment{{{0, 6, 1}}, {{1, 8, 0}, {10, 17, 1}}, nil}
	return rec
}

func TestFactsReadBackAsTheyWereWritten(t *testing.T) {
	rec := full()
	span := ptrace.NewSpan()
	at := span.Attributes()
	at.PutStr(ToolArguments, rec.arguments)
	at.PutStr(ToolResult, rec.result)
	at.PutStr(SystemInstructions, rec.content[slotSystem])
	at.PutStr(InputMessages, rec.content[slotInput])
	new(Annotator).Annotate(span, rec, []CutBody{{Key: "k", Size: 7}})
	var r Reader
	got := r.Span(span)
	want := rec.Step
	want.Unit = "run"
	want.Index = -1
	want.Model.Context = []agent.Ref{{2}, {1}, {2}}
	got.Step.Attributes, got.Step.Events, got.Step.Links, got.Step.Model.Outputs = nil, nil, nil, nil
	require.Equal(t, want, got.Step)
	require.Equal(t, rec.Facts, got.Facts)
	require.Equal(t, []agent.Body{
		{Ref: agent.Ref{2}, Text: "system", Expires: -5},
		{Ref: agent.Ref{1}, Text: `{"x":1}`, Expires: -5},
		{Ref: agent.Ref{9}, Text: `{"a":1}`, Expires: -5},
		{Ref: agent.Ref{8}, Text: "r", Expires: -5},
	}, got.Bodies)
}

func TestBodiesAreNotTakenFromContentThatWasChangedOnTheWay(t *testing.T) {
	rec := full()
	span := ptrace.NewSpan()
	new(Annotator).Annotate(span, rec, nil)
	span.Attributes().PutStr(InputMessages, `[{"x":9}, {"y":2}]`)
	var r Reader
	got := r.Span(span)
	require.Empty(t, got.Bodies)
	require.Len(t, got.Step.Model.Context, 3, "the references stay")
}

func TestASpanWithoutFactsIsNoStep(t *testing.T) {
	for name, facts := range map[string][]byte{"none": nil, "another version": {99, 1, 2}, "cut off": appendFacts(nil, full())[:40]} {
		span := ptrace.NewSpan()
		span.SetTraceID([16]byte{1})
		span.Attributes().PutStr(StepKind, "act")
		if facts != nil {
			span.Attributes().PutEmptyBytes(Facts).FromRaw(facts)
		}
		var r Reader
		got := r.Span(span)
		require.Equal(t, agent.OpNone, got.Step.Op, name)
		require.Equal(t, agent.KindUnset, got.Step.Kind, name)
		require.Equal(t, "01000000000000000000000000000000", got.Step.Unit, name)
	}
}

func TestFindingsReadBackAsTheyWereWritten(t *testing.T) {
	f := agent.Finding{
		ID: agent.NewFindingID("t", "r", "key.duplicate", "k"), Tenant: "t", Run: "r", Kind: "key.duplicate", Anchor: "k",
		Severity: agent.SeverityCritical, Status: agent.StatusOpen, Step: "s", Tool: "refund", Agent: "a", DetectedAt: 1_790_000_000_000_000_000,
		Message: "twice", Evidence: []agent.Evidence{{Unit: "u\"", Trace: agent.TraceID{1}, Span: agent.SpanID{2}, Attempt: 3}},
		Waste:      agent.Waste{Attempts: 1, Duration: 2, Tokens: 3, CostNano: 4},
		MergedInto: agent.FindingID{7},
	}
	span := ptrace.NewSpan()
	WriteFinding(span, &f)
	f.Message = "thrice"
	WriteFinding(span, &f)
	require.Equal(t, 1, span.Events().Len(), "once per id")
	var r Reader
	res := pcommon.NewResource()
	res.Attributes().PutStr(Tenant, "t")
	r.Resource(res)
	require.Equal(t, []agent.Finding{f}, r.Span(span).Findings)
	Strip(span)
	require.Zero(t, span.Events().Len())
}

func TestStripRemovesWhatOnlyTheProcessorMayWrite(t *testing.T) {
	span := ptrace.NewSpan()
	require.NoError(t, span.Attributes().FromRaw(map[string]any{
		StepKind: "read", StepKindSource: "policy", CostUSD: 1.0, CostSource: "computed", Facts: []byte{1}, Redacted: 7, PolicyHash: "x",
		Truncated: "y", RunIDSource: "z", Tenant: "other", RunID: "r", "a": "b",
	}))
	Strip(span)
	require.Equal(t, map[string]any{RunID: "r", "a": "b"}, span.Attributes().AsRaw())
	require.NoError(t, span.Attributes().FromRaw(map[string]any{StepKind: "read", StepKindSource: "reported", CostUSD: 1.0, CostSource: "reported"}))
	Strip(span)
	require.Equal(t, map[string]any{StepKind: "read", CostUSD: 1.0}, span.Attributes().AsRaw())
}

// Whatever stands in agent.facts, reading does not panic, no body reaches
// outside its attribute, and every reference has its facts.
func FuzzFacts(f *testing.F) {
	f.Add(appendFacts(nil, full()), `[{"x":1}, {"y":2}]`)
	f.Add([]byte{factsVersion}, "")
	f.Fuzz(func(t *testing.T, facts []byte, content string) {
		span := ptrace.NewSpan()
		span.Attributes().PutStr(InputMessages, content)
		span.Attributes().PutEmptyBytes(Facts).FromRaw(facts)
		var r Reader
		rec := r.Span(span)
		if len(rec.Step.Model.Context)+len(rec.Step.Model.Outputs) > 0 && len(rec.Facts) == 0 {
			t.Fatal("references without facts")
		}
		lr := plog.NewLogRecord()
		span.Attributes().CopyTo(lr.Attributes())
		r.Log(lr)
		// A record that was read can be written again.
		appendFacts(nil, r.Span(span))
	})
}
