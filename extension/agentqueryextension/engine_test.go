package agentqueryextension

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/sweep"
	"github.com/steptrail/steptrail/query"
	"github.com/steptrail/steptrail/query/api"
)

// bench is the API over the real engine.
type bench struct {
	t     testing.TB
	store *store.Store
	url   string
	start time.Time
}

func onEngine(t testing.TB) *bench {
	t.Helper()
	e := enginetest.Start(t)
	st, err := store.Open(t.Context(), e.Options(), store.Config{Database: e.Database})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	require.NoError(t, st.Migrate(t.Context()))
	_, addr := serve(t, &fakeStorage{store: st}, nil)
	return &bench{t: t, store: st, url: addr, start: time.Now().Add(-time.Minute).Truncate(time.Second)}
}

// span makes the n-th span of a trace: a refund under an explicit run.
func (b *bench) span(run string, trace, n int, edit func(*agent.Step)) *agent.Step {
	s := &agent.Step{
		Tenant: query.DefaultTenant, Unit: run, RunID: run, Trace: agent.TraceID{0: byte(trace >> 8), 1: byte(trace), 15: 1}, Span: agent.SpanID{0: byte(trace), 5: byte(n >> 8), 6: byte(n), 7: 1},
		Name: "execute_tool issue_refund", Service: "support", Op: agent.OpTool, Kind: agent.KindAct, KindSource: agent.KindSourcePolicy, Index: -1,
		Start: b.start.UnixNano() + int64(n)*1e6, End: b.start.UnixNano() + int64(n)*1e6 + 5e5, Sign: agent.SignOK, Outcome: agent.OutcomeOK,
		Expires: time.Now().Add(24 * time.Hour).Unix(), ContentExpires: time.Now().Add(time.Hour).Unix(), Call: agent.Call{Tool: "issue_refund", Target: "order/7731"},
	}
	if run == "" {
		s.Unit = s.Trace.String()
	}
	if edit != nil {
		edit(s)
	}
	return s
}

func body(text string) agent.Body {
	sum := sha256.Sum256([]byte(text))
	return agent.Body{Ref: agent.Ref(sum[:16]), Text: text, Expires: time.Now().Add(time.Hour).Unix()}
}

func (b *bench) insert(steps ...*agent.Step) {
	b.t.Helper()
	batch := store.NewBatch()
	for _, s := range steps {
		batch.AddSpan(s, nil, nil)
	}
	require.NoError(b.t, b.store.Insert(b.t.Context(), batch))
}

// sweep judges what is stored, as if it were quiet.
func (b *bench) sweep() {
	b.t.Helper()
	p, err := policyfile.LoadKeyless("builtin:demo")
	require.NoError(b.t, err)
	p.Detection.Quiet = time.Nanosecond
	s := sweep.New(b.store, p, sweep.Config{Lookback: time.Hour})
	for range 2 {
		_, err := s.Tick(b.t.Context(), time.Now())
		require.NoError(b.t, err)
	}
}

func get[T any](b *bench, path string) (v T) {
	b.t.Helper()
	status, text := fetch(b.t, b.url+"/api/v1"+path)
	require.Equal(b.t, http.StatusOK, status, "%s", text)
	require.NoError(b.t, json.Unmarshal(text, &v))
	return v
}

// all lists every run page by page.
func (b *bench) all(query string) (ids []string) {
	b.t.Helper()
	for cursor := ""; ; {
		l := get[api.RunList](b, "/runs?"+query+"&cursor="+url.QueryEscape(cursor))
		for i := range l.Runs {
			ids = append(ids, l.Runs[i].RunID)
		}
		if cursor = l.NextCursor; cursor == "" {
			return ids
		}
	}
}

func TestARunIsSeenAsSoonAsItIsStoredAndOnceAfterTheSweep(t *testing.T) {
	b := onEngine(t)
	b.insert(b.span("order 7731/a", 1, 1, nil), b.span("order 7731/a", 1, 2, nil))
	for _, state := range []string{"before", "after"} {
		l := get[api.RunList](b, "/runs")
		require.Len(t, l.Runs, 1, state)
		require.Equal(t, "order 7731/a", l.Runs[0].RunID)
		require.EqualValues(t, 2, l.Runs[0].Counts.Act.Steps, state)
		one := get[api.Run](b, "/runs/"+url.PathEscape("order 7731/a"))
		require.Equal(t, l.Runs[0].Counts, one.Counts, state)
		require.EqualValues(t, 2, one.Spans)
		b.sweep()
	}
	b.insert(b.span("order 7731/a", 1, 2, nil), b.span("order 7731/a", 1, 3, nil)) // one of them again
	l := get[api.RunList](b, "/runs")
	require.Len(t, l.Runs, 1)
	require.EqualValues(t, 3, l.Runs[0].Counts.Act.Steps)
}

func TestListsOfStoredAndChangedRunsArePagedAndFilteredByTheEngine(t *testing.T) {
	b := onEngine(t)
	var want []string
	var steps []*agent.Step
	for i := range 40 {
		id := fmt.Sprintf("run/%02d", i)
		steps = append(steps, b.span(id, i+1, i/3, func(s *agent.Step) {
			if i%4 == 0 {
				s.Call.Tool, s.Call.Target, s.Kind = "get_order", "order/'9'", agent.KindRead
			}
		}))
		want = append(want, id)
	}
	b.insert(steps[:25]...)
	b.sweep()
	b.insert(steps[25:]...)
	slices.Reverse(want)
	for _, limit := range []int{1, 7, 39, 40, 500} {
		require.Equal(t, want, b.all(fmt.Sprint("limit=", limit)), limit)
	}
	require.Len(t, b.all("tool=get_order&limit=3"), 10)
	require.Len(t, b.all("target="+url.QueryEscape("order/'9'")), 10)
	require.Len(t, b.all("agent=support&outcome=unstated&limit=500"), 40)
	require.Equal(t, []string{"run/07"}, b.all("trace="+steps[7].Trace.String()))
	require.Equal(t, []string{"run/30"}, b.all("trace="+steps[30].Trace.String()))
	require.Empty(t, b.all("agent="+url.QueryEscape("' OR 1=1 --")))
	from := url.QueryEscape(time.Unix(0, steps[39].Start).UTC().Format(time.RFC3339Nano))
	require.Equal(t, []string{"run/39"}, b.all("from="+from))
	require.Len(t, b.all("to="+from), 39)
	slices.Reverse(want)
	require.Equal(t, want, b.all("sort=started_at&limit=9"))
}

func TestHostileIdsGoThroughTheEngineUnchanged(t *testing.T) {
	b := onEngine(t)
	ids := []string{
		"a/b", "a%2Fb", "..", "../../etc", "a b", "a+b", "?x#y", "ü/日本語 👩‍💻", "' OR 1=1 --", `back\slash`, "tab\tline\nbreak", "{run:String}", "\x1b[31m", "null", `"`, "`", "$1", "%s",
	}
	for i, id := range ids {
		b.insert(b.span(id, i+1, i, nil))
	}
	for range 2 {
		for _, id := range ids {
			require.Equal(t, id, get[api.Run](b, "/runs/"+url.PathEscape(id)).RunID)
			require.Equal(t, id, get[api.History](b, "/runs/"+url.PathEscape(id)+"/history?content=full").Run.RunID)
			for _, f := range get[api.FindingList](b, "/findings?run_id="+url.QueryEscape(id)).Findings {
				require.Equal(t, id, f.RunID)
			}
		}
		require.ElementsMatch(t, ids, b.all("limit=4"))
		b.sweep()
	}
}

func TestARunThatJoinedAnotherAnswersUnderItsOldId(t *testing.T) {
	b := onEngine(t)
	b.insert(b.span("", 1, 1, nil))
	old := b.span("", 1, 1, nil).Trace.String()
	b.sweep()
	require.Equal(t, []string{old}, b.all(""))
	b.insert(b.span("order-7731", 1, 2, nil)) // states the run of the whole trace
	for _, state := range []string{"before the sweep", "after it"} {
		require.Equal(t, []string{"order-7731"}, b.all(""), state)
		got := get[api.Run](b, "/runs/"+old)
		require.Equal(t, "order-7731", got.RunID, state)
		require.Equal(t, "order-7731", got.MergedInto, state)
		require.EqualValues(t, 2, got.Spans, state)
		b.sweep()
	}
}

func TestFindingsOfStreamAndSweepAreOneInListRunAndHistory(t *testing.T) {
	b := onEngine(t)
	twice := func(n int) *agent.Step {
		return b.span("r", 1, n, func(s *agent.Step) { s.Call.Key, s.StepID = "refund-7731", fmt.Sprint("s", n) })
	}
	b.insert(twice(1), twice(2))
	b.sweep()
	for _, query := range []string{"?kind=key.duplicate", "?kind=key.*&status=open&severity=critical", "?run_id=r&tool=issue_refund&kind=key.duplicate"} {
		found := get[api.FindingList](b, "/findings"+query).Findings
		require.Len(t, found, 1, query)
		require.Equal(t, "key.duplicate", found[0].Kind)
		require.Equal(t, found[0], get[api.Finding](b, "/findings/"+found[0].ID))
		require.NotEmpty(t, found[0].Evidence)
	}
	require.Empty(t, get[api.FindingList](b, "/findings?status=withdrawn").Findings)
	h := get[api.History](b, "/runs/r/history")
	require.True(t, slices.ContainsFunc(h.Findings, func(f api.Finding) bool { return f.Kind == "key.duplicate" }))
	require.EqualValues(t, 1, h.Run.Findings["key.duplicate"])
	require.Len(t, get[api.RunList](b, "/runs?finding=key.duplicate").Runs, 1)
	require.Empty(t, get[api.RunList](b, "/runs?finding=loop.repeat").Runs)
}

func TestAFullHistoryGivesBackWhatWasStored(t *testing.T) {
	b := onEngine(t)
	text := []string{`{"role":"system","content":"be kind"}`, `{"role":"user","content":"tab\t \u2028 'quote' <b>"}`, `{"role":"assistant","content":"done"}`, `{"order": 7731}`, "plain \x00 text\nof two lines"}
	bodies := make([]agent.Body, len(text))
	for i := range text {
		bodies[i] = body(text[i])
	}
	content := func(i int) agent.Content {
		return agent.Content{State: agent.RecordedYes, Ref: bodies[i].Ref, Digest: agent.Digest(bodies[i].Ref), Size: int64(len(text[i]))}
	}
	think := b.span("r", 1, 1, func(s *agent.Step) {
		s.Op, s.Kind, s.Call = agent.OpModel, agent.KindThink, agent.Call{}
		s.Model = agent.Model{Requested: "gpt-4o", Context: []agent.Ref{bodies[0].Ref, bodies[1].Ref}, Outputs: []agent.Ref{bodies[2].Ref}}
	})
	act := b.span("r", 1, 2, func(s *agent.Step) { s.Call.Arguments, s.Call.Result = content(3), content(4) })
	batch := store.NewBatch()
	batch.AddSpan(think, bodies[:3], []agent.MessageFacts{{Ref: bodies[0].Ref, Role: agent.RoleSystem}, {Ref: bodies[1].Ref, Role: agent.RoleUser, UserText: true}})
	batch.AddSpan(act, bodies[3:], nil)
	require.NoError(t, b.store.Insert(t.Context(), batch))

	h := get[api.History](b, "/runs/r/history?content=full")
	require.Len(t, h.Messages, 3)
	for i, m := range h.Messages {
		require.JSONEq(t, text[i], string(m.Body))
		require.Equal(t, bodies[i].Ref.String(), m.Ref)
	}
	require.Equal(t, api.MessageRoleUser, h.Messages[1].Role)
	require.Equal(t, []string{h.Messages[0].Ref, h.Messages[1].Ref}, h.Steps[0].Attempts[0].Context.Messages)
	a := h.Steps[1].Attempts[0]
	require.JSONEq(t, text[3], string(a.Arguments.Body))
	require.JSONEq(t, string(api.StringJSON(text[4])), string(a.Result.Body))
	require.Equal(t, api.CompletenessContentFull, h.Run.Completeness.Content)

	status, lines := fetch(t, b.url+"/api/v1/runs/r/history?content=full&format=ndjson")
	require.Equal(t, 200, status)
	require.Equal(t, 1+3+2+1, strings.Count(string(lines), "\n"), "run, messages, steps, end")
}

func TestTheFiltersOfQueryAndStoreHaveTheSameFields(t *testing.T) {
	fields := func(v any) (out []string) {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			out = append(out, f.Name)
		}
		return out
	}
	require.Equal(t, fields(query.RunFilter{}), fields(store.RunFilter{}))
	require.Equal(t, fields(query.FindingFilter{}), fields(store.FindingFilter{}))
}
