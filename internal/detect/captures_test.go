package detect_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/detect"
)

// captured is what EXPECTED.json says of a real export that detectors decide; a
// fact that is null cannot be told from the spans.
type captured struct {
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

const capturePolicy = `tools: [{match: "get_*", class: read}, {match: "*-get_*", class: read}, {match: "check_*", class: read}, {match: "*-check_*", class: read},
  {match: "search_*", class: read}, {match: "*-search_*", class: read}, {match: "ask_*", class: read}, {match: "lookup_*", class: read},
  {match: Read, class: read}, {match: Grep, class: read}, {match: "refund_*", class: act}, {match: "*-refund_*", class: act}, {match: "send_*", class: act},
  {match: "*-send_*", class: act}, {match: "charge_*", class: act}, {match: Bash, class: act}, {match: Write, class: act}, {match: call_model, class: think}]`

const captureRunKeys = `run_id_keys: ["ai.telemetry.metadata.runId", "ai.settings.context.runId", "mastra.metadata.runId", "traceloop.association.properties.run_id"]`

// captureShare is the percentage of all captures that must be concluded rightly.
const captureShare = 99

var captureNames = flag.String("captures", "", "judge only the captures whose name matches, and list what is derived of them")

// TestTheCapturesAreConcluded takes each real export through the product's path
// without its store and compares what is concluded with what is right. Those
// that fall short are logged; `-v -captures NAME` shows what was derived.
func TestTheCapturesAreConcluded(t *testing.T) {
	folder := shared(t, "captures")
	judgeCaptures(t, captureShare, func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
		}
		return data
	})
}

// TestFurtherCapturesAreConcluded does so with the exports that this repository
// keeps beside those.
func TestFurtherCapturesAreConcluded(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "e2e", "testdata", "captures-more.tar.gz"))
	require.NoError(t, err)
	defer f.Close() // read only
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		files[h.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
	judgeCaptures(t, 100, func(name string) []byte { return files[name] })
}

// judgeCaptures judges the exports that EXPECTED.json names; read gives a file,
// nil where there is none.
func judgeCaptures(t *testing.T, share int, read func(name string) []byte) {
	t.Helper()
	var expected map[string]captured
	require.NoError(t, json.Unmarshal(read("EXPECTED.json"), &expected))
	only, err := regexp.Compile(*captureNames)
	require.NoError(t, err)
	text := strings.Replace(policyText(t, nil, "24h"), "tools: []", capturePolicy, 1)
	text = strings.Replace(text, "cycle_rounds: 3", "cycle_rounds: 2", 1)
	text = strings.Replace(text, "run_id_keys: []", captureRunKeys, 1)
	right, judged := 0, 0
	for _, name := range sortedKeys(expected) {
		if !only.MatchString(name) {
			continue
		}
		judged++
		if problem := judgeCapture(t, text, read(name+".json"), read(name+".logs.json"), expected[name]); problem != "" {
			t.Logf("%s: %s", name, problem)
			continue
		}
		right++
	}
	t.Logf("%d of %d captures are concluded rightly", right, judged)
	if *captureNames == "" {
		require.GreaterOrEqual(t, 100*right, share*judged)
	}
}

func judgeCapture(t *testing.T, policyText string, traces, records []byte, want captured) string {
	t.Helper()
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(traces)
	require.NoError(t, err)
	var logs []plog.Logs
	if len(records) > 0 {
		ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(records)
		require.NoError(t, err)
		logs = append(logs, ld)
	}
	p := process(t, policyText, []ptrace.Traces{td}, logs...)
	p.input.Quiet, p.input.Silent = true, true
	got := conclusion{}
	for _, r := range agent.Runs(p.input) {
		got.add(r, detect.Run(detect.Input{Run: r, Policy: p.policy}))
		if *captureNames != "" {
			t.Log(describeRun(r))
		}
	}
	return got.problems(want)
}

// conclusion is what is scored of an export.
type conclusion struct {
	runs, models, tools, unknown int
	duplicates, loops            []string
}

func (c *conclusion) add(r *agent.Run, found []agent.Finding) {
	c.runs++
	counts := agent.CountsOf(r)
	c.models += int(counts[agent.KindThink].Steps)
	c.tools += int(counts[agent.KindRead].Attempts + counts[agent.KindAct].Attempts)
	for _, f := range found {
		switch {
		case f.Kind == "outcome.unknown":
			c.unknown++
		case f.Kind == "effect.duplicate" || f.Kind == "outcome.unsafe_retry" || f.Kind == "key.duplicate":
			c.duplicates = append(c.duplicates, f.Tool)
		case strings.HasPrefix(f.Kind, "loop."):
			c.loops = append(c.loops, f.Tool)
		}
	}
}

func (c *conclusion) problems(want captured) string {
	var problems []string
	for _, n := range []struct {
		name string
		want *int
		got  int
	}{{"runs", want.Runs, c.runs}, {"model steps", want.ModelSteps, c.models}, {"tool calls", want.ToolCalls, c.tools}, {"unknown outcomes", want.Unknown, c.unknown}} {
		if n.want != nil && *n.want != n.got {
			problems = append(problems, fmt.Sprintf("%d %s, not %d", n.got, n.name, *n.want))
		}
	}
	if want.Duplicates != nil {
		var tools []string
		for _, d := range *want.Duplicates {
			tools = append(tools, d.Tool)
		}
		if !slices.Equal(distinct(c.duplicates), distinct(tools)) {
			problems = append(problems, fmt.Sprintf("duplicates %q, not %q", distinct(c.duplicates), distinct(tools)))
		}
	}
	if want.Loops != nil {
		var tools []string
		for _, l := range *want.Loops {
			if l.Tool != "" {
				tools = append(tools, l.Tool)
			}
			tools = append(tools, l.Tools...)
		}
		named := func(tool string) bool { return slices.Contains(tools, tool) }
		if (len(tools) > 0) != (len(c.loops) > 0) || len(tools) > 0 && !slices.ContainsFunc(c.loops, named) && !slices.Equal(distinct(c.loops), []string{""}) {
			problems = append(problems, fmt.Sprintf("loops %q, not %q", distinct(c.loops), distinct(tools)))
		}
	}
	return strings.Join(problems, "; ")
}

// describeRun lists what was derived of a run, a line an attempt.
func describeRun(r *agent.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s agent=%s spans=%d\n", r.ID, r.Agent, len(r.Spans))
	for i := range r.Steps {
		st := &r.Steps[i]
		fmt.Fprintf(&b, "  %s %s lane=%d(%s) tool=%q target=%q\n", st.ID, st.Kind, st.Lane, st.LaneName, st.Tool, st.Target)
		for j := range st.Attempts {
			a := &st.Attempts[j]
			fmt.Fprintf(&b, "    %d %s executed=%v nospan=%v call=%s args=%d:%x result=%d:%x error=%q %q spans=", a.Number, a.Outcome, a.Executed, a.NoSpan, a.CallID,
				a.Arguments.State, a.Arguments.Digest[:3], a.Result.State, a.Result.Digest[:3], a.ErrorType, a.ErrorText)
			for _, s := range a.Spans {
				fmt.Fprintf(&b, "%s(%s) ", s.Name, s.Dialect)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func distinct(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
