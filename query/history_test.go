package query

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

// conversation fills the memory with a run of a model call and two tool calls
// under an agent.
func conversation(m *memory) {
	system, user, answer := m.body(`{"role":"system","content":"be kind"}`), m.body(`{"role":"user","content":"refund order 7731"}`), m.body(`{"role":"assistant","content":"done"}`)
	m.facts = map[agent.Ref]*agent.MessageFacts{
		system.Ref: {Ref: system.Ref, Role: agent.RoleSystem}, user.Ref: {Ref: user.Ref, Role: agent.RoleUser}, answer.Ref: {Ref: answer.Ref, Role: agent.RoleAssistant},
	}
	temperature := 0.2
	think := func(n byte, context ...agent.Ref) *agent.Step {
		return span("r", 1, n, func(s *agent.Step) {
			s.Op, s.Kind, s.Name, s.Call = agent.OpModel, agent.KindThink, "chat gpt-4o", agent.Call{}
			s.Model = agent.Model{
				Provider: "openai", Requested: "gpt-4o", Served: "gpt-4o-2024-08-06", Params: agent.Params{Temperature: &temperature},
				Tokens: agent.Tokens{Known: true, Input: 100, Output: 20}, CostNano: 450_000, CostSource: agent.CostSourceComputed,
				Context: context, ContextHash: agent.Hash{1}, Outputs: []agent.Ref{answer.Ref}, Input: agent.Digest{n}, Output: agent.Digest{1, n},
			}
		})
	}
	root := span("r", 1, 0, func(s *agent.Step) {
		s.Op, s.Kind, s.Name, s.Call = agent.OpAgent, agent.KindUnset, "invoke_agent refunds", agent.Call{}
		s.End = epoch.Add(time.Minute).UnixNano()
		s.Attributes = []agent.Attr{{Key: "note", Value: "a secret of the root"}}
		s.Model.Context, s.Model.Outputs, s.Call.Result = []agent.Ref{user.Ref}, []agent.Ref{answer.Ref}, m.body(`"all done"`)
	})
	under := func(s *agent.Step) *agent.Step { s.Parent = root.Span; return s }
	m.add(root, under(think(1, system.Ref, user.Ref)),
		under(span("r", 1, 3, func(s *agent.Step) {
			s.StepID, s.Call.Arguments, s.Call.Result = "refund", m.body(`{"order":7731,"amount":12.5}`), m.body(`not json <b>`)
			s.Attributes = []agent.Attr{{Key: "retries", Value: "3", JSON: true}, {Key: "broken", Value: "{", JSON: true}, {Key: "note", Value: "x"}}
			s.Events = []agent.Event{{Time: s.Start, Name: "sent", Attributes: []agent.Attr{{Key: "k", Value: "v"}}}}
		})),
		under(think(5, system.Ref, user.Ref, answer.Ref)))
	id := agent.NewFindingID(DefaultTenant, "r", "key.duplicate", "refund-7731")
	m.found = []agent.Finding{{
		ID: id, Tenant: DefaultTenant, Run: "r", Kind: "key.duplicate", Severity: agent.SeverityCritical, Status: agent.StatusOpen, Step: "refund", Tool: "issue_refund",
		Agent: "refunds", DetectedAt: epoch.UnixNano(), Message: "two executions under one key", Evidence: []agent.Evidence{{Trace: agent.TraceID{0: 1, 15: 1}, Span: agent.SpanID{1}, Attempt: 1}},
		Waste: agent.Waste{Attempts: 1, Duration: 1_500_000, Tokens: 3, CostNano: 1},
	}}
}

func TestAHistoryHoldsEverythingOfARunInOrder(t *testing.T) {
	f := start(t, nil)
	conversation(f.memory)
	h := f.history(t, "r", "?content=full")
	require.Len(t, h.Steps, 3)
	assert.Equal(t, []string{"think", "act", "think"}, []string{string(h.Steps[0].Kind), string(h.Steps[1].Kind), string(h.Steps[2].Kind)})

	think := h.Steps[0].Attempts[0]
	assert.Equal(t, "gpt-4o-2024-08-06", think.Model.Served)
	assert.InDelta(t, 0.2, *think.Model.Params.Temperature, 0)
	assert.Nil(t, think.Model.Params.Seed)
	assert.EqualValues(t, 120, think.Tokens.Total)
	assert.EqualValues(t, 450_000, *think.CostUSD)
	assert.True(t, strings.HasPrefix(think.Context.Hash, "sha256:01"))
	require.Len(t, think.Context.Messages, 2)
	require.Len(t, think.Output, 1)

	refund := h.Steps[1]
	assert.Equal(t, "refund", refund.StepID)
	assert.Equal(t, []string{h.Findings[0].ID}, refund.Findings)
	a := refund.Attempts[0]
	assert.Nil(t, a.Model)
	assert.Equal(t, "order/7731", a.Target)
	assert.Equal(t, "refund-7731", a.Key)
	assert.JSONEq(t, `{"order":7731,"amount":12.5}`, string(a.Arguments.Body))
	assert.JSONEq(t, `"not json <b>"`, string(a.Result.Body))
	assert.JSONEq(t, `3`, string(a.Spans[0].Attributes["retries"]))
	assert.JSONEq(t, `"{"`, string(a.Spans[0].Attributes["broken"]))
	assert.JSONEq(t, `"v"`, string(a.Spans[0].Events[0].Attributes["k"]))
	assert.InDelta(t, 250, a.DurationMs, 0)

	require.Len(t, h.Messages, 3, "each message once")
	byRef := map[string]api.Message{}
	for _, m := range h.Messages {
		byRef[m.Ref] = m
	}
	for _, ref := range h.Steps[2].Attempts[0].Context.Messages {
		assert.NotEmpty(t, byRef[ref].Body)
	}
	assert.JSONEq(t, `{"role":"system","content":"be kind"}`, string(h.Messages[0].Body))
	assert.Equal(t, api.MessageRoleSystem, h.Messages[0].Role)

	require.Len(t, h.Spans, 1, "the agent's span is no step")
	assert.Equal(t, "invoke_agent refunds", h.Spans[0].Name)
	assert.JSONEq(t, `"a secret of the root"`, string(h.Spans[0].Attributes["note"]))
	require.Len(t, h.Findings, 1)
	assert.InDelta(t, 1.5, h.Findings[0].Waste.DurationMs, 0)
	assert.EqualValues(t, 1, h.Run.Findings["key.duplicate"])
	assert.Equal(t, f.run(t, "r").Counts, h.Run.Counts)
}

func TestAHistoryHoldsWhatWentIntoSpansThatAreNoStepAndCameOut(t *testing.T) {
	f := start(t, nil)
	conversation(f.memory)
	asked, said := f.memory.body(`{"role":"user","content":"only the agent heard it"}`), f.memory.body(`{"role":"assistant","content":"only the agent said it"}`)
	root := f.memory.steps[0]
	root.Model.Context, root.Model.Outputs = []agent.Ref{asked.Ref}, []agent.Ref{said.Ref}
	root.Call.Arguments = f.memory.body(`{"task":"refund 7731"}`)
	h := f.history(t, "r", "?content=full")
	require.Len(t, h.Messages, 5)
	require.Len(t, h.Spans, 1)
	bodies := map[string]string{}
	for _, m := range h.Messages {
		bodies[m.Ref] = string(m.Body)
	}
	require.Len(t, h.Spans[0].Context, 1)
	require.Contains(t, bodies[h.Spans[0].Context[0]], "only the agent heard it")
	require.Len(t, h.Spans[0].Output, 1)
	require.Contains(t, bodies[h.Spans[0].Output[0]], "only the agent said it")
	require.JSONEq(t, `{"task":"refund 7731"}`, string(h.Spans[0].Arguments.Body))
	require.JSONEq(t, `"all done"`, string(h.Spans[0].Result.Body))

	lines := string(f.get(t, historySpec, "/api/v1/runs/r/history?content=full&format=ndjson").body)
	require.Contains(t, lines, "refund 7731")
	require.Less(t, strings.Index(lines, "only the agent heard it"), strings.Index(lines, "invoke_agent refunds"), "messages come before what refers to them")
	require.NotContains(t, string(f.get(t, historySpec, "/api/v1/runs/r/history?content=refs").body), "refund 7731")
	none := f.history(t, "r", "?content=none").Spans[0]
	require.Empty(t, none.Context)
	require.Empty(t, none.Arguments.Ref)
}

func TestWithoutContentAHistoryTellsNothingOfWhatWasSaid(t *testing.T) {
	f := start(t, nil)
	conversation(f.memory)
	for query, want := range map[string]struct{ refs, bodies bool }{
		"?content=none": {false, false}, "": {true, false}, "?content=refs": {true, false}, "?content=full": {true, true},
	} {
		a := string(f.get(t, "/api/v1/runs/{run_id}/history", "/api/v1/runs/r/history"+query).body)
		assert.Equal(t, want.refs, strings.Contains(a, `"ref":"`), query)
		assert.Equal(t, want.refs, strings.Contains(a, `sha256:`), query)
		assert.Equal(t, want.bodies, strings.Contains(a, `be kind`), query)
		assert.Equal(t, want.bodies, strings.Contains(a, `12.5`), query)
		assert.Equal(t, want.bodies, strings.Contains(a, `a secret of the root`), query)
		assert.Contains(t, a, `"recorded":"yes"`, query)
	}
	require.NotZero(t, f.memory.fetches)
}

func TestLinesSayTheSameAsTheObject(t *testing.T) {
	f := start(t, nil)
	conversation(f.memory)
	for _, show := range []string{"none", "refs", "full"} {
		f.now = epoch.Add(time.Hour)
		object := f.history(t, "r", "?content="+show)
		f.now = epoch.Add(time.Hour)
		lines := f.lines(t, "r", "?format=ndjson&content="+show)
		require.NotNil(t, lines[0].Run, "the first line is the run")
		end := lines[len(lines)-1].End
		require.NotNil(t, end, "the last line is the end")
		got := api.History{Run: *lines[0].Run, Steps: []api.Step{}, Spans: []api.Span{}, Messages: []api.Message{}, Findings: []api.Finding{}, Unknowns: []api.Unknown{}}
		seen := map[string]bool{}
		for _, l := range lines[1:] {
			switch {
			case l.Step != nil:
				got.Steps = append(got.Steps, *l.Step)
				for _, a := range l.Step.Attempts {
					if a.Context != nil {
						for _, ref := range a.Context.Messages {
							assert.True(t, seen[ref], "a message comes before the step that refers to it")
						}
					}
				}
			case l.Span != nil:
				got.Spans = append(got.Spans, *l.Span)
			case l.Message != nil:
				seen[l.Message.Ref] = true
				got.Messages = append(got.Messages, *l.Message)
			case l.Finding != nil:
				got.Findings = append(got.Findings, *l.Finding)
			case l.Unknown != nil:
				got.Unknowns = append(got.Unknowns, *l.Unknown)
			}
		}
		require.Equal(t, object, got)
		require.Equal(t, api.HistoryEnd{Steps: len(got.Steps), Spans: len(got.Spans), Messages: len(got.Messages), Findings: len(got.Findings), Unknowns: len(got.Unknowns)}, *end)
	}
}

func TestTheFormFollowsTheAcceptHeaderUnlessTheParameterSaysOtherwise(t *testing.T) {
	f := start(t, nil)
	conversation(f.memory)
	for _, c := range []struct{ accept, query, want string }{
		{"", "", typeJSON},
		{"*/*", "", typeJSON},
		{"application/x-ndjson", "", typeNDJSON},
		{"text/html, Application/X-NDJSON;q=0.9, */*", "", typeNDJSON},
		{"application/json, application/x-ndjson", "", typeJSON},
		{"application/x-ndjson", "?format=json", typeJSON},
		{"application/json", "?format=ndjson", typeNDJSON},
		{"text/html", "", typeJSON},
	} {
		a := f.get(t, "/api/v1/runs/{run_id}/history", "/api/v1/runs/r/history"+c.query, "Accept", c.accept)
		require.Equal(t, c.want, a.header.Get("Content-Type"), "%q %s", c.accept, c.query)
	}
}

func TestWhateverWasStoredTheAnswerIsValidJSON(t *testing.T) {
	f := start(t, nil)
	bad := "a\xffb\x00\n\u2028</script>\x1b[0m\"\\"
	inf, nan := math.Inf(1), math.NaN()
	c := f.memory.body("{\"a\":\n 1e999, \"b\": [\n2]}")
	broken := f.memory.body(bad)
	f.memory.add(
		span("r", 1, 1, func(s *agent.Step) {
			s.Op, s.Kind = agent.OpModel, agent.KindThink
			s.Name, s.Service, s.Agent, s.ErrorText, s.ErrorType, s.Actor, s.Reason, s.Scope = bad, bad, bad, bad, bad, bad, bad, bad
			s.Model = agent.Model{
				Requested: bad, Served: bad, Context: []agent.Ref{broken.Ref}, Params: agent.Params{Temperature: &nan, TopP: &inf},
				Tokens: agent.Tokens{Known: true, Input: math.MaxInt64}, CostNano: math.MinInt64, CostSource: agent.CostSourceReported, ContextURI: bad,
			}
			s.Attributes = []agent.Attr{{Key: bad, Value: bad, JSON: true}, {Key: "nan", Value: "NaN", JSON: true}, {Key: "lines", Value: "[1,\n2]", JSON: true}}
			s.Start, s.End = math.MinInt64, math.MaxInt64
			s.Reconciles, s.ReconcileResult, s.Decision = bad, 200, 200
		}),
		span("r", 1, 2, func(s *agent.Step) {
			s.Call.Tool, s.Call.Target, s.Call.Key, s.Call.ID, s.Call.Arguments, s.Call.Result = bad, bad, bad, bad, c, broken
			s.Start, s.End = 5, 1
			s.Kind, s.KindSource, s.Call.Gate, s.Op = 200, 200, 200, agent.OpTool
			s.Kind = agent.KindOther
		}),
	)
	f.memory.found = []agent.Finding{{Run: "r", Kind: bad, Message: bad, Severity: 200, Status: 200, Waste: agent.Waste{Duration: math.MinInt64}}}
	for _, show := range []string{"none", "refs", "full"} {
		h := f.history(t, "r", "?content="+show)
		require.Len(t, h.Steps, 2)
		require.NotEmpty(t, f.lines(t, "r", "?format=ndjson&content="+show))
		for i := range h.Steps {
			for j := range h.Steps[i].Attempts {
				assert.GreaterOrEqual(t, h.Steps[i].Attempts[j].DurationMs, 0.0)
			}
		}
	}
	require.Len(t, f.runs(t, "").Runs, 1)
	require.Len(t, decode[api.FindingList](t, f, 200, "/api/v1/findings", "/api/v1/findings").Findings, 1)
}

func TestALongHistoryIsStreamedInWindowsOfContent(t *testing.T) {
	f := start(t, nil)
	big := strings.Repeat("x", 64<<10)
	const steps = 300
	for i := range steps {
		f.memory.add(span("r", 1, 1, func(s *agent.Step) {
			s.Span = agent.SpanID{6: byte(i >> 8), 7: byte(i), 0: 1}
			s.Call.ID, s.Call.Key = "", ""
			s.Start = epoch.Add(time.Duration(i) * time.Second).UnixNano()
			s.End = s.Start + 1
			s.StepID = "s" + strings.Repeat("i", i)
			s.Call.Arguments = f.memory.body(`"` + big + s.StepID + `"`)
		}))
	}
	for _, query := range []string{"?content=full", "?content=full&format=ndjson"} {
		f.memory.fetches, f.memory.mostRefs = 0, 0
		a := httptest.NewRecorder()
		f.server.ServeHTTP(a, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/runs/r/history"+query, http.NoBody))
		require.Equal(t, 200, a.Code)
		require.Greater(t, a.Body.Len(), steps*len(big))
		require.LessOrEqual(t, f.memory.mostRefs, windowStart)
		require.GreaterOrEqual(t, f.memory.fetches, 3, "after the first window their size is known")
	}
	a := f.get(t, "/api/v1/runs/{run_id}/history", "/api/v1/runs/r/history")
	require.Less(t, len(a.body), steps*4096)
}

func TestAHistoryThatFailsHalfWayIsCutOffAndNotEnded(t *testing.T) {
	f := start(t, nil)
	for i := range 200 {
		f.memory.add(span("r", 1, 1, func(s *agent.Step) {
			s.Span = agent.SpanID{0: 1, 7: byte(i)}
			s.StepID = "s" + strings.Repeat("i", i)
			s.Start = epoch.UnixNano() + int64(i)
			s.Call.Arguments = f.memory.body(`"` + strings.Repeat("y", 2048) + s.StepID + `"`)
		}))
	}
	get := func(query string) (int, []byte, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.http.URL+"/api/v1/runs/r/history"+query, http.NoBody)
		require.NoError(t, err)
		res, err := f.http.Client().Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return res.StatusCode, b, err
	}
	f.memory.fail, f.memory.failBody = errors.New("engine gone"), 2
	for _, query := range []string{"?content=full", "?content=full&format=ndjson"} {
		f.memory.fetches = 0
		status, body, err := get(query)
		require.Equal(t, 200, status, "the first window had been sent")
		require.Error(t, err, "the client sees the cut")
		require.False(t, json.Valid(body))
		require.NotContains(t, string(body), `"end"`)
	}
	f.memory.failBody, f.memory.fetches = 1, 0
	status, body, err := get("?content=full")
	require.NoError(t, err)
	require.Equal(t, 500, status, "nothing had been sent")
	require.NotContains(t, string(body), "engine")
}

func TestBodiesThatAreGoneAreSaidToBeGone(t *testing.T) {
	f := start(t, nil)
	conversation(f.memory)
	clear(f.memory.bodies)
	h := f.history(t, "r", "?content=full")
	a := h.Steps[1].Attempts[0]
	assert.True(t, a.Arguments.Unavailable)
	assert.Nil(t, a.Arguments.Body)
	assert.Equal(t, api.ContentRecordedYes, a.Arguments.Recorded)
	for _, m := range h.Messages {
		assert.True(t, m.Unavailable)
	}
}

func TestMessagesThatCameAsLogRecordsStandInTheContextOfTheirSpan(t *testing.T) {
	f := start(t, nil)
	conversation(f.memory)
	s := f.memory.steps[1]
	logged := f.memory.body(`{"role":"user","content":"from a log"}`)
	out := f.memory.body(`{"role":"assistant","content":"said in a log"}`)
	s.Model.Context, s.Model.Outputs = nil, nil
	f.memory.logs = []agent.LogContent{
		{Trace: s.Trace, Span: s.Span, Position: 1, Output: true, Message: out.Ref},
		{Trace: s.Trace, Span: s.Span, Position: 0, Message: logged.Ref},
		{Trace: s.Trace, Span: s.Span, Position: 0, Message: logged.Ref},
	}
	a := f.history(t, "r", "?content=full").Steps[0].Attempts[0]
	require.Equal(t, []string{logged.Ref.String()}, a.Context.Messages)
	require.Equal(t, []string{out.Ref.String()}, a.Output)
}

func TestAnUnknownOutcomeIsListedWithItsFinding(t *testing.T) {
	f := start(t, nil)
	f.memory.add(span("r", 1, 1, func(s *agent.Step) { s.StepID, s.Outcome = "refund", agent.OutcomeUnknown }),
		span("r", 1, 4, func(s *agent.Step) { s.Call.Key = "another" }))
	u := f.history(t, "r", "").Unknowns
	require.Len(t, u, 1)
	assert.Empty(t, u[0].ID)
	assert.Equal(t, api.UnknownStatusOpen, u[0].Status)
	assert.Equal(t, "order/7731", u[0].Target)

	s := f.memory.steps[0]
	id := agent.NewFindingID(DefaultTenant, "r", kindUnknown, "x")
	f.memory.found = []agent.Finding{{ID: id, Run: "r", Kind: kindUnknown, Step: "refund", Status: agent.StatusResolved, Evidence: []agent.Evidence{{Trace: s.Trace, Span: s.Span, Attempt: 1}}}}
	u = f.history(t, "r", "").Unknowns
	require.Len(t, u, 1)
	assert.Equal(t, id.String(), u[0].ID)
	assert.Equal(t, api.UnknownStatusResolved, u[0].Status)
}

func TestAClientThatGoesEndsTheWork(t *testing.T) {
	f := start(t, nil)
	conversation(f.memory)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.server.GetRunHistory(ctx, api.GetRunHistoryRequestObject{RunID: "r"})
	require.NoError(t, err, "the memory does not look at the context; the store does")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.http.URL+"/api/v1/runs", http.NoBody)
	require.NoError(t, err)
	_, err = f.http.Client().Do(req) //nolint:bodyclose // there is no answer
	require.ErrorIs(t, err, context.Canceled)
}
