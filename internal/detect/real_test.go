package detect_test

import (
	"bufio"
	"compress/gzip"
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

const tauBench = "tau-bench-airline-0-99"

func realRequests(t testing.TB) []ptrace.Traces {
	t.Helper()
	f, err := os.Open(filepath.Join(shared(t, "real"), tauBench+".otlp.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close() // read only
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var out []ptrace.Traces
	lines := bufio.NewScanner(z)
	lines.Buffer(make([]byte, 1<<20), 64<<20)
	for lines.Scan() {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(lines.Bytes())
		require.NoError(t, err)
		out = append(out, td)
	}
	require.NoError(t, lines.Err())
	return out
}

// Of the real runs no call was repeated three times in a row without news, and no
// finding is critical; what is found is that acts carry no keys.
func TestTheRealRunsGetNoFindingThatAPersonWouldReject(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(shared(t, "real"), tauBench+".truth.json"))
	require.NoError(t, err)
	var truth struct {
		Repeated []struct {
			Tool   string `json:"tool"`
			Streak int    `json:"streak"`
		} `json:"repeated_calls"`
	}
	require.NoError(t, json.Unmarshal(data, &truth))
	loops := 0
	for _, r := range truth.Repeated {
		if r.Streak >= 3 {
			loops++
		}
	}
	classes := `tools: [{match: "get_*", class: read}, {match: "search_*", class: read}, {match: "list_*", class: read}, {match: "find_*", class: read},
  {match: calculate, class: read}, {match: think, class: read}, {match: "*", class: act}]`
	p := process(t, strings.Replace(policyText(t, nil, "24h"), "tools: []", classes, 1), realRequests(t))
	p.input.Quiet, p.input.Silent = true, true
	runs := agent.Runs(p.input)
	require.Len(t, runs, 100)
	repeats := 0
	var rows []string
	for _, r := range runs {
		for _, f := range detect.Run(detect.Input{Run: r, Policy: p.policy}) {
			requireSound(t, &f)
			rows = append(rows, fmt.Sprintf("%s %s %s %d", r.ID[:8], f.Kind, f.Tool, len(f.Evidence)))
			require.NotEqual(t, agent.SeverityCritical, f.Severity, f.Message)
			switch f.Kind {
			case "loop.repeat":
				repeats++
			case "key.missing":
			default:
				t.Errorf("%s in %s: %s", f.Kind, r.ID, f.Message)
			}
		}
	}
	require.Equal(t, loops, repeats)
	slices.Sort(rows)
	require.Equal(t, documented(t), rows, "docs/findings-on-tau-bench.md lists them all")
}

// documented reads the rows of the table in docs/findings-on-tau-bench.md.
func documented(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "findings-on-tau-bench.md"))
	require.NoError(t, err)
	var rows []string
	for line := range strings.SplitSeq(string(data), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) < 5 || !strings.HasPrefix(cells[0], "| `") {
			continue
		}
		require.NotEmpty(t, strings.Trim(cells[4], " |"), "a sentence on whether a person would agree")
		rows = append(rows, strings.Join([]string{strings.Trim(cells[0], "| `"), strings.Trim(cells[1], "`"), strings.Trim(cells[2], "`"), cells[3]}, " "))
	}
	slices.Sort(rows)
	return rows
}
