package detect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/detect"
)

// captured is what EXPECTED.json says of a real export that detectors decide; a
// fact that is null cannot be told from the spans.
type captured struct {
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

// The captures decide about dialects first; here it is reported what share of
// them gets the findings that are right, so that a change for the worse shows.
func TestTheCapturesGetTheirFindings(t *testing.T) {
	folder := shared(t, "captures")
	data, err := os.ReadFile(filepath.Join(folder, "EXPECTED.json"))
	require.NoError(t, err)
	var expected map[string]captured
	require.NoError(t, json.Unmarshal(data, &expected))
	text := strings.Replace(policyText(t, nil, "24h"), "tools: []", capturePolicy, 1)
	text = strings.Replace(text, "cycle_rounds: 3", "cycle_rounds: 2", 1)
	right := 0
	for _, name := range sortedKeys(expected) {
		if problem := judgeCapture(t, text, filepath.Join(folder, name+".json"), expected[name]); problem != "" {
			t.Logf("%s: %s", name, problem)
			continue
		}
		right++
	}
	t.Logf("%d of %d captures get the unknown outcomes, duplicates and loops that are right", right, len(expected))
	require.GreaterOrEqual(t, 100*right, 70*len(expected))
}

func judgeCapture(t *testing.T, policyText, path string, want captured) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
	require.NoError(t, err)
	p := process(t, policyText, []ptrace.Traces{td})
	p.input.Quiet, p.input.Silent = true, true
	unknown := 0
	var duplicates, loops []string
	for _, r := range agent.Runs(p.input) {
		for _, f := range detect.Run(detect.Input{Run: r, Policy: p.policy}) {
			switch {
			case f.Kind == "outcome.unknown":
				unknown++
			case f.Kind == "effect.duplicate" || f.Kind == "outcome.unsafe_retry" || f.Kind == "key.duplicate":
				duplicates = append(duplicates, f.Tool)
			case strings.HasPrefix(f.Kind, "loop."):
				loops = append(loops, f.Tool)
			}
		}
	}
	var problems []string
	if want.Unknown != nil && *want.Unknown != unknown {
		problems = append(problems, fmt.Sprintf("%d unknown outcomes, not %d", unknown, *want.Unknown))
	}
	if want.Duplicates != nil {
		var tools []string
		for _, d := range *want.Duplicates {
			tools = append(tools, d.Tool)
		}
		if !slices.Equal(distinct(duplicates), distinct(tools)) {
			problems = append(problems, fmt.Sprintf("duplicates %q, not %q", distinct(duplicates), distinct(tools)))
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
		if (len(tools) > 0) != (len(loops) > 0) || len(tools) > 0 && !slices.ContainsFunc(loops, named) && !slices.Equal(distinct(loops), []string{""}) {
			problems = append(problems, fmt.Sprintf("loops %q, not %q", distinct(loops), distinct(tools)))
		}
	}
	return strings.Join(problems, "; ")
}

func distinct(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
