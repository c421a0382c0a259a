package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"golang.org/x/sync/errgroup"
)

// expected is what EXPECTED.json says of one export; a fact that is null cannot
// be told from its spans.
type expected struct {
	Runs       *int `json:"runs"`
	ModelSteps *int `json:"llm_steps"`
	ToolCalls  *int `json:"tool_calls"`
	Unknown    *int `json:"outcome_unknown"`
	Duplicates *[]struct {
		Tool string `json:"tool"`
	} `json:"duplicates"`
	Loops *[]struct {
		Tool  string   `json:"tool"`
		Tools []string `json:"tools"`
	} `json:"loops"`
}

const capturesPolicy = `version: 1
run_id_keys: ["ai.telemetry.metadata.runId", "ai.settings.context.runId", "mastra.metadata.runId", "traceloop.association.properties.run_id"]
detection: {repeat: 3, cycle_rounds: 2, stall_window: 8, unknown_sla: 24h, quiet: 2s, in_flight: 2s, settle: 1s, context_bytes: 65536}
redaction: {mode: pseudonym, key: "${env:STEPTRAIL_REDACTION_KEY}", detectors: [email], keys: [], rules: [], idempotency_keys: keep}
retention: {act: 4000d, human: 4000d, think: 4000d, read: 4000d, content: 4000d, findings: 4000d, access_log: 4000d}
tools: [{match: "get_*", class: read}, {match: "*-get_*", class: read}, {match: "check_*", class: read}, {match: "*-check_*", class: read},
  {match: "search_*", class: read}, {match: "*-search_*", class: read}, {match: "ask_*", class: read}, {match: "lookup_*", class: read},
  {match: Read, class: read}, {match: Grep, class: read}, {match: "refund_*", class: act}, {match: "*-refund_*", class: act}, {match: "send_*", class: act},
  {match: "*-send_*", class: act}, {match: "charge_*", class: act}, {match: Bash, class: act}, {match: Write, class: act}, {match: call_model, class: think}]
`

// listedClients are the clients whose exports must be concluded without a fault;
// of all exports together it is capturesShare percent.
const (
	listedClients = `^(vercel|openinference|traceloop|openai-agents|genkit|mcp-|otel|synthetic` +
		`|py-openinference-(langgraph|openai|anthropic|pydantic|adk)|py-traceloop-(langgraph|openai|anthropic)` +
		`|py-(livekit|langsmith|otel|otelgenai|otelopenaiv2|logfire|pydantic|strands|adk|anthropicsdk|mcp|fastmcp|temporal))`
	capturesShare = 99
)

// What is concluded from real exports, in the order in which they were sent and
// shuffled into five requests each.
func TestRealExportsAreConcludedRightly(t *testing.T) {
	files, want := map[string][]byte{}, map[string]expected{}
	for _, archive := range []string{"captures", "captures-more"} {
		of := ReadArchive(t, archive)
		require.NoError(t, json.Unmarshal(of["EXPECTED.json"], &want))
		maps.Copy(files, of)
	}
	for _, order := range []Disorder{{}, {Seed: 1, Parts: 5}} {
		t.Run(fmt.Sprintf("in %d requests", order.Parts), func(t *testing.T) {
			in := startScored(t, []byte(capturesPolicy))
			names := slices.Sorted(maps.Keys(want))
			traces := make([][]string, len(names))
			var post errgroup.Group
			post.SetLimit(senders)
			for i, name := range names {
				post.Go(func() (err error) {
					traces[i], err = postCapture(t.Context(), in, files, name, fmt.Sprintf("x%03d", i), order)
					return err
				})
			}
			require.NoError(t, post.Wait())
			waitSettled(t, in)
			listed := regexp.MustCompile(listedClients)
			right, short := 0, []string{}
			for i, name := range names {
				problem := concludeCapture(t, in, traces[i], want[name])
				switch {
				case problem == "":
					right++
				case listed.MatchString(name):
					short = append(short, name+": "+problem)
				default:
					t.Logf("%s: %s", name, problem)
				}
			}
			t.Logf("%d of %d", right, len(names))
			require.Empty(t, short)
			require.GreaterOrEqual(t, 100*right, capturesShare*len(names))
		})
	}
}

// postCapture sends an export under ids of its own, and gives its trace ids.
func postCapture(ctx context.Context, in *Instance, files map[string][]byte, name, suffix string, order Disorder) ([]string, error) {
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(ownIDs(string(files[name+".json"]), suffix)))
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				ids[span.TraceID().String()] = true
			}
		}
	}
	if err := postAll(ctx, in, order.Apply([]ptrace.Traces{td})); err != nil {
		return nil, err
	}
	if logs, ok := files[name+".logs.json"]; ok {
		ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs([]byte(ownIDs(string(logs), suffix)))
		if err != nil {
			return nil, err
		}
		if err := in.PostLogs(ctx, plogotlp.NewExportRequestFromLogs(ld)); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(ids)), nil
}

func concludeCapture(t *testing.T, in *Instance, traces []string, want expected) string {
	t.Helper()
	runs := map[string]scoredRun{}
	for _, id := range traces {
		of, err := Collect[scoredRun](t.Context(), in, "/runs?limit=500&trace="+id, "runs")
		require.NoError(t, err)
		for _, r := range of {
			runs[r.RunID] = r
		}
	}
	models, tools, unknown := 0, 0, 0
	duplicates, loops := []string{}, []string{}
	for id, r := range runs {
		models += r.Counts["think"].Steps
		tools += r.Counts["read"].Attempts + r.Counts["act"].Attempts
		found, err := findingsOfRun(t.Context(), in, id)
		require.NoError(t, err)
		for _, f := range found {
			switch {
			case f.Kind == "outcome.unknown":
				unknown++
			case f.Kind == "effect.duplicate", f.Kind == "outcome.unsafe_retry", f.Kind == "key.duplicate":
				duplicates = append(duplicates, f.Tool)
			case strings.HasPrefix(f.Kind, "loop."):
				loops = append(loops, f.Tool)
			}
		}
	}
	var problems []string
	for _, fact := range []struct {
		name string
		want *int
		got  int
	}{{"runs", want.Runs, len(runs)}, {"model steps", want.ModelSteps, models}, {"tool calls", want.ToolCalls, tools}, {"unknown outcomes", want.Unknown, unknown}} {
		if fact.want != nil && *fact.want != fact.got {
			problems = append(problems, fmt.Sprintf("%d %s, not %d", fact.got, fact.name, *fact.want))
		}
	}
	if want.Duplicates != nil {
		wanted := []string{}
		for _, d := range *want.Duplicates {
			wanted = append(wanted, d.Tool)
		}
		if !slices.Equal(each(duplicates), each(wanted)) {
			problems = append(problems, fmt.Sprintf("duplicates %q, not %q", each(duplicates), each(wanted)))
		}
	}
	if want.Loops != nil {
		wanted := []string{}
		for _, l := range *want.Loops {
			if l.Tool != "" {
				wanted = append(wanted, l.Tool)
			} else {
				wanted = append(wanted, l.Tools...)
			}
		}
		named := slices.ContainsFunc(loops, func(tool string) bool { return slices.Contains(wanted, tool) })
		if (len(wanted) > 0) != (len(loops) > 0) || len(wanted) > 0 && !named && !slices.Equal(each(loops), []string{""}) {
			problems = append(problems, fmt.Sprintf("loops %q, not %q", each(loops), each(wanted)))
		}
	}
	return strings.Join(problems, "; ")
}
