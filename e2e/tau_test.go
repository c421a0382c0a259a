package e2e

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

const (
	tauTraces = "real/tau-bench-airline-0-99.otlp.jsonl.gz"
	tauTruth  = "real/tau-bench-airline-0-99.truth.json"
	tauRuns   = 100
	tauSpans  = 1901
)

// TestRealRunsAreReportedAsTheyWere sends 100 recorded runs of an airline agent with their whole contexts: in order,
// then again in shuffled order, then again span by span. After each, the API must report the same 100 runs with the
// model calls and tool calls that the recording has.
func TestRealRunsAreReportedAsTheyWere(t *testing.T) {
	RequireEngine(t)
	requests := readTau(t)
	truth := readTauTruth(t)
	in := Start(t, Options{})
	random := rand.New(rand.NewPCG(1, 2))
	sent := 0.0

	for _, round := range []struct {
		name     string
		requests []ptrace.Traces
	}{
		{"as recorded", requests},
		{"in shuffled order", shuffled(random, requests)},
		{"span by span in shuffled order", shuffled(random, singleSpans(requests))},
	} {
		for _, traces := range round.requests {
			require.NoError(t, in.PostTraces(t.Context(), ptraceotlp.NewExportRequestFromTraces(traces)), round.name)
		}
		sent += tauSpans
		waitStored(t, in, sent)
		check := func() error {
			runs, err := Collect[run](t.Context(), in, "/runs?agent=tau-airline&limit=500", "runs")
			if err == nil {
				err = compareTau(t.Context(), in, runs, truth)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", round.name, err)
			}
			return nil
		}
		Eventually(t, limit, check)
		// The sweep writes its own answer over that of the stream; it must be the same.
		time.Sleep(sweepTime)
		require.NoError(t, check())
	}
}

// sweepTime is enough for the sweep to have judged what is stored.
const sweepTime = 6 * time.Second

// waitStored waits until the exporter has written the given number of spans since the start of the process.
func waitStored(t *testing.T, in *Instance, spans float64) {
	t.Helper()
	Eventually(t, limit, func() error {
		stored, _, err := in.Metric(t.Context(), "otelcol_exporter_sent_spans_total", map[string]string{"exporter": "agentstore"})
		if err == nil && stored < spans {
			err = fmt.Errorf("%.0f of %.0f spans are stored", stored, spans)
		}
		return err
	})
}

// tauCounts is what the recording says of one run.
type tauCounts struct {
	Index     int `json:"index"`
	Chats     int `json:"chats"`
	ToolCalls int `json:"tool_calls"`
}

// compareTau checks the runs and their histories against the truth, by the index in their session's name. A tool call is
// told from a model call by its tool: one of the tools is called think, and is of that kind.
func compareTau(ctx context.Context, in *Instance, runs []run, truth []tauCounts) error {
	if len(runs) != tauRuns {
		return fmt.Errorf("%d runs, want %d", len(runs), tauRuns)
	}
	bySession := make(map[string]run, len(runs))
	for _, r := range runs {
		bySession[r.SessionID] = r
	}
	for _, want := range truth {
		r, ok := bySession[fmt.Sprintf("tau-airline-%d", want.Index)]
		if !ok {
			return fmt.Errorf("no run of recording %d", want.Index)
		}
		var h history
		if err := in.GetJSON(ctx, "/runs/"+url.PathEscape(r.RunID)+"/history?content=none", &h); err != nil {
			return err
		}
		chats, tools, counted := 0, 0, 0
		for _, s := range h.Steps {
			if s.Tool != "" {
				tools += len(s.Attempts)
			} else if s.Kind == "think" {
				chats += len(s.Attempts)
			}
		}
		for _, n := range r.Counts {
			counted += n.Attempts
		}
		if chats != want.Chats || tools != want.ToolCalls || counted != want.Chats+want.ToolCalls {
			return fmt.Errorf("recording %d (run %s): %d model calls, %d tool calls, %d counted attempts, want %d and %d", want.Index, r.RunID,
				chats, tools, counted, want.Chats, want.ToolCalls)
		}
	}
	return nil
}

// readTau reads the recorded requests, one a line, with all times moved so that the last span ends now.
func readTau(t *testing.T) []ptrace.Traces {
	t.Helper()
	file, err := os.Open(Shared(t, tauTraces))
	require.NoError(t, err)
	defer file.Close()
	plain, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 64<<20)
	var requests []ptrace.Traces
	var last pcommon.Timestamp
	for lines.Scan() {
		request := ptraceotlp.NewExportRequest()
		require.NoError(t, request.UnmarshalJSON(lines.Bytes()))
		requests = append(requests, request.Traces())
		eachSpan(request.Traces(), func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span) {
			last = max(last, span.EndTimestamp())
		})
	}
	require.NoError(t, lines.Err())
	require.Len(t, requests, tauRuns)
	shift := pcommon.NewTimestampFromTime(time.Now()) - last // wraps around, as does the sum
	for _, traces := range requests {
		eachSpan(traces, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span) {
			span.SetStartTimestamp(span.StartTimestamp() + shift)
			span.SetEndTimestamp(span.EndTimestamp() + shift)
		})
	}
	return requests
}

func readTauTruth(t *testing.T) []tauCounts {
	t.Helper()
	text, err := os.ReadFile(Shared(t, tauTruth))
	require.NoError(t, err)
	var truth struct {
		PerRun []tauCounts `json:"per_run"`
	}
	require.NoError(t, json.NewDecoder(strings.NewReader(string(text))).Decode(&truth))
	require.Len(t, truth.PerRun, tauRuns)
	return truth.PerRun
}

// singleSpans cuts requests into requests of one span.
func singleSpans(requests []ptrace.Traces) []ptrace.Traces {
	var single []ptrace.Traces
	for _, traces := range requests {
		eachSpan(traces, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
			one := ptrace.NewTraces()
			resource := one.ResourceSpans().AppendEmpty()
			rs.Resource().CopyTo(resource.Resource())
			scope := resource.ScopeSpans().AppendEmpty()
			ss.Scope().CopyTo(scope.Scope())
			span.CopyTo(scope.Spans().AppendEmpty())
			single = append(single, one)
		})
	}
	return single
}

func eachSpan(traces ptrace.Traces, visit func(ptrace.ResourceSpans, ptrace.ScopeSpans, ptrace.Span)) {
	for _, rs := range traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				visit(rs, ss, span)
			}
		}
	}
}

func shuffled(random *rand.Rand, requests []ptrace.Traces) []ptrace.Traces {
	other := append([]ptrace.Traces(nil), requests...)
	random.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	return other
}
