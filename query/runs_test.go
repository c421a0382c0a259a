package query

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

// hostileIDs are run ids that a path, a router or a client might break.
var hostileIDs = []string{
	"plain", "a/b", "a/b/history", "history", "a%2Fb", "a%252Fb", "%", "%zz", "?", "a?b=c", "#", "a#b", "a b", " lead", "trail ", "+", "a+b", "a+b/c d",
	".", "..", "../..", "a/../b", "/", "//", "/lead", "trail/", "ü/ñ", "日本語", "👩‍💻", "\u202egnp", ":run_id", "*x", "{run_id}", "a:b", "a;b", "a,b", "a=b&c=d",
	"'", `"`, "`", `a\b`, "<script>alert(1)</script>", "' OR 1=1 --", "line\nbreak", "tab\there", "\x1b[31mred", "null", "0", strings.Repeat("x", 2000),
}

func TestRunsAreFoundUnderWhateverIdTheyHave(t *testing.T) {
	f := start(t, nil)
	for i, id := range hostileIDs {
		f.memory.add(span(id, byte(i+1), 1, nil))
	}
	for _, id := range hostileIDs {
		for name, path := range map[string]string{"as clients encode it": url.PathEscape(id), "with every byte encoded": encodeAll(id)} {
			got := decode[api.Run](t, f, http.StatusOK, "/api/v1/runs/{run_id}", "/api/v1/runs/"+path)
			require.Equal(t, id, got.RunID, name)
			h := decode[api.History](t, f, http.StatusOK, "/api/v1/runs/{run_id}/history", "/api/v1/runs/"+path+"/history")
			require.Equal(t, id, h.Run.RunID, name)
			require.Len(t, h.Steps, 1, name)
			f.fast = true
		}
	}
	f.fast = false
	got := idsOf(f.runs(t, "?limit=500"))
	require.ElementsMatch(t, hostileIDs, got)
}

func encodeAll(id string) string {
	var b strings.Builder
	for i := range len(id) {
		fmt.Fprintf(&b, "%%%02X", id[i])
	}
	return b.String()
}

func TestIdsThatNoRunHasAreRefused(t *testing.T) {
	f := start(t, nil)
	f.memory.add(span("known", 1, 1, nil))
	for name, c := range map[string]struct {
		path   string
		status int
	}{
		"an unknown id":                {"/api/v1/runs/other", 404},
		"an id that is not UTF-8":      {"/api/v1/runs/%FF", 400},
		"an id beyond the bound":       {"/api/v1/runs/" + strings.Repeat("x", maxValue+1), 400},
		"an id with a trailing slash":  {"/api/v1/runs/known/", 404},
		"an id and an unknown part":    {"/api/v1/runs/known/other", 404},
		"no id":                        {"/api/v1/runs/", 404},
		"a path in capital letters":    {"/API/V1/RUNS/known", 404},
		"a path with a doubled slash":  {"/api/v1//runs", 404},
		"a path that climbs":           {"/api/v1/findings/../runs", 404},
		"a parameter where none stand": {"/api/v1/runs/known?x=1", 400},
	} {
		t.Run(name, func(t *testing.T) {
			f.problem(t, c.status, "/api/v1/runs/{run_id}", c.path)
		})
	}
}

func TestAListShowsEachRunOnceInOrderWhateverThePageSize(t *testing.T) {
	f := start(t, nil)
	var want []string
	for i := range byte(23) {
		id := fmt.Sprintf("run-%02d", i)
		start := i / 3 // some start at the same time
		f.memory.add(span(id, i+1, start, nil))
		want = append(want, id)
		if i == 15 {
			f.memory.sweep(t) // the others are derived
		}
	}
	f.memory.add(span("run-03", 4, 30, nil), span("run-04", 5, 31, nil)) // and these are stored and changed
	slices.Reverse(want)
	for _, sorted := range []string{"-started_at", "started_at"} {
		for _, limit := range []int{1, 2, 3, 7, 22, 23, 24, 500} {
			var got []string
			cursor := ""
			for pages := 0; ; pages++ {
				l := f.runs(t, fmt.Sprintf("?sort=%s&limit=%d&cursor=%s", sorted, limit, url.QueryEscape(cursor)))
				f.fast = true
				require.LessOrEqual(t, len(l.Runs), limit)
				got = append(got, idsOf(l)...)
				if cursor = l.NextCursor; cursor == "" {
					break
				}
				require.Less(t, pages, 25)
			}
			require.Equal(t, want, got, "%s by %d", sorted, limit)
		}
		slices.Reverse(want)
	}
}

func TestAChangedRunIsShownAsItIsNowAndNotAsItWasStored(t *testing.T) {
	f := start(t, nil)
	f.memory.add(span("r", 1, 1, nil))
	f.memory.sweep(t)
	require.EqualValues(t, 1, f.runs(t, "").Runs[0].Counts.Act.Steps)
	f.memory.add(span("r", 1, 2, nil))
	l := f.runs(t, "")
	require.Len(t, l.Runs, 1)
	require.EqualValues(t, 2, l.Runs[0].Counts.Act.Steps)
	require.Equal(t, f.run(t, "r").Counts, l.Runs[0].Counts)
}

func TestARunThatBecameAnotherIsListedOnlyAsThatOneAndAnswersUnderBothIds(t *testing.T) {
	f := start(t, nil)
	f.memory.add(span("", 1, 1, nil))
	old := agent.TraceID{0: 1, 15: 1}.String()
	f.memory.sweep(t)
	require.Equal(t, []string{old}, idsOf(f.runs(t, "")))

	f.memory.add(span("order-7731", 1, 2, nil)) // states the run of the whole trace
	require.Equal(t, []string{"order-7731"}, idsOf(f.runs(t, "")))
	got := f.run(t, old)
	assert.Equal(t, "order-7731", got.RunID)
	assert.Equal(t, "order-7731", got.MergedInto)
	assert.Empty(t, f.run(t, "order-7731").MergedInto)
	assert.Equal(t, "order-7731", f.history(t, old, "").Run.MergedInto)
}

func TestARunOfWhichOnlyAPartIsReadSaysSo(t *testing.T) {
	f := start(t, nil)
	f.memory.add(span("r", 1, 1, nil))
	require.False(t, f.run(t, "r").Completeness.Truncated)
	f.memory.truncated = true
	require.True(t, f.run(t, "r").Completeness.Truncated)
	require.True(t, f.history(t, "r", "").Run.Completeness.Truncated)
	require.Empty(t, f.runs(t, "").Runs, "the list waits for the sweep's summary")
}

func TestFiltersSelectStoredAndChangedRunsAlike(t *testing.T) {
	f := start(t, nil)
	build := func() {
		f.memory.add(
			span("refund", 1, 1, nil),
			span("lookup", 2, 5, func(s *agent.Step) {
				s.Service, s.Call.Tool, s.Call.Target, s.Kind = "search", "get_order", "order/9", agent.KindRead
			}),
		)
	}
	build()
	cases := map[string][]string{
		"":                                     {"lookup", "refund"},
		"?agent=support":                       {"refund"},
		"?agent=nobody":                        nil,
		"?agent=":                              {"lookup", "refund"},
		"?tool=get_order":                      {"lookup"},
		"?target=order/7731":                   {"refund"},
		"?target=order%2F9":                    {"lookup"},
		"?trace=" + traceHex(1):                {"refund"},
		"?trace=" + strings.Repeat("f", 32):    nil,
		"?from=2026-07-01T12:00:05Z":           {"lookup"},
		"?to=2026-07-01T12:00:05Z":             {"refund"},
		"?from=2026-07-01T14:00:05%2B02:00":    {"lookup"},
		"?from=2026-07-01T14:00:05+02:00":      {"lookup"},
		"?from=2026-07-01T12:00:05.000000001Z": nil,
		"?outcome=unstated":                    {"lookup", "refund"},
		"?outcome=success":                     nil,
		"?finding=key.duplicate":               nil,
		"?user=u&session=s&scenario=x&model=m&prompt_version=1&task_type=t": nil,
	}
	for _, state := range []string{"changed", "stored"} {
		for query, want := range cases {
			assert.Equal(t, want, idsOf(f.runs(t, query)), "%s %s", state, query)
		}
		f.memory.sweep(t)
	}
}

func traceHex(n byte) string { return agent.TraceID{0: n, 15: 1}.String() }

func TestManyListsAtOnceCostOneDerivation(t *testing.T) {
	now := epoch
	f := start(t, func(o *Options) { o.Now = func() time.Time { return now } })
	f.memory.add(span("r", 1, 1, nil))
	for range 5 {
		require.Len(t, f.runs(t, "").Runs, 1)
	}
	require.Equal(t, 1, f.memory.derived)
	f.memory.add(span("s", 2, 1, nil))
	now = now.Add(freshFor)
	require.Len(t, f.runs(t, "").Runs, 2)
	require.Equal(t, 2, f.memory.derived)
}

func TestABadParameterIsNamedWithWhatWouldBeRight(t *testing.T) {
	f := start(t, nil)
	long := strings.Repeat("x", maxValue+1)
	for query, want := range map[string]struct {
		parameter string
		limit     int
	}{
		"?limit=0":                    {"limit", 500},
		"?limit=501":                  {"limit", 500},
		"?limit=-1":                   {"limit", 500},
		"?limit=1e2":                  {"limit", 500},
		"?limit=99999999999999999999": {"limit", 500},
		"?from=yesterday":             {"from", 0},
		"?from=0000-01-01T00:00:00Z":  {"from", 0},
		"?to=2026-13-01T00:00:00Z":    {"to", 0},
		"?from=2026-07-02T00:00:00Z&to=2026-07-01T00:00:00Z": {"to", 0},
		"?trace=abc":                        {"trace", 0},
		"?trace=" + strings.Repeat("0", 32): {"trace", 0},
		"?status=done":                      {"status", 0},
		"?outcome=good":                     {"outcome", 0},
		"?sort=cost":                        {"sort", 0},
		"?cursor=x":                         {"cursor", 0},
		"?cursor=%00":                       {"cursor", 0},
		"?agnet=x":                          {"agnet", 0},
		"?agent=a&agent=b":                  {"agent", 0},
		"?agent=%FF":                        {"agent", 0},
		"?agent=" + long:                    {"agent", maxValue},
	} {
		p := f.problem(t, http.StatusBadRequest, "/api/v1/runs", "/api/v1/runs"+query)
		assert.Equal(t, want.parameter, p.Parameter, query)
		assert.Equal(t, want.limit, p.Limit, query)
		assert.Contains(t, p.Detail, want.parameter, query)
	}
	f.problem(t, http.StatusBadRequest, "/api/v1/runs", "/api/v1/runs?agent=%zz")
	f.problem(t, http.StatusBadRequest, "/api/v1/runs", "/api/v1/runs?a;b")
	f.problem(t, http.StatusBadRequest, "/api/v1/runs/{run_id}/history", "/api/v1/runs/r/history?content=all")
	f.problem(t, http.StatusBadRequest, "/api/v1/runs/{run_id}/history", "/api/v1/runs/r/history?format=xml")
}

func TestACursorOfAnotherQueryIsRefused(t *testing.T) {
	f := start(t, nil)
	for i := range byte(3) {
		f.memory.add(span(fmt.Sprint("r", i), i+1, i, nil))
	}
	cursor := url.QueryEscape(f.runs(t, "?limit=1").NextCursor)
	require.NotEmpty(t, cursor)
	require.Len(t, f.runs(t, "?limit=2&cursor="+cursor).Runs, 2, "another page size is the same query")
	p := f.problem(t, http.StatusBadRequest, "/api/v1/runs", "/api/v1/runs?agent=refunds&cursor="+cursor)
	require.Equal(t, "cursor", p.Parameter)
	f.problem(t, http.StatusBadRequest, "/api/v1/findings", "/api/v1/findings?cursor="+cursor)
}

func TestErrorsOfTheStoreBecomeProblemsThatHideTheirCause(t *testing.T) {
	f := start(t, nil)
	f.memory.add(span("r", 1, 1, nil))
	for name, c := range map[string]struct {
		err    error
		status int
	}{
		"any other error":  {fmt.Errorf("secret dsn: %w", context.Canceled), 500},
		"store is away":    {fmt.Errorf("secret dsn: %w", ErrUnavailable), 503},
		"it took too long": {fmt.Errorf("secret dsn: %w", context.DeadlineExceeded), 504},
		"nothing there":    {fmt.Errorf("secret dsn: %w", ErrNotFound), 404},
	} {
		t.Run(name, func(t *testing.T) {
			f.memory.fail = c.err
			defer func() { f.memory.fail = nil }()
			p := f.problem(t, c.status, "/api/v1/runs/{run_id}", "/api/v1/runs/r")
			assert.NotContains(t, p.Detail, "secret")
			assert.Regexp(t, "^[0-9a-f]{16}$", p.RequestID)
			if c.status >= 500 {
				last := f.logs.TakeAll()
				require.Len(t, last, 1)
				assert.Equal(t, p.RequestID, last[0].ContextMap()["request_id"], "the log line names the request")
				assert.Contains(t, last[0].ContextMap()["error"], "secret")
			}
		})
	}
}
