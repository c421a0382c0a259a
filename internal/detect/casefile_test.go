package detect_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// caseFile is a labelled run, or several, with the findings that are right for
// them. The format is described in the README beside the shared cases; the
// project's own stand in testdata.
type caseFile struct {
	Name      string     `json:"name"`
	Why       string     `json:"why"`
	Debatable string     `json:"debatable"`
	Policy    casePolicy `json:"policy"`
	Runs      []caseRun  `json:"runs"`
	Expect    expect     `json:"expect"`
}

type casePolicy struct {
	Limits map[string]float64        `json:"limits"`
	Tools  map[string]map[string]any `json:"tools"`

	file string // of a scenario
}

type caseRun struct {
	ID       string     `json:"run_id"`
	Agent    string     `json:"agent"`
	TaskType string     `json:"task_type"`
	Session  string     `json:"session_id"`
	Service  string     `json:"service"`
	Provider string     `json:"provider"`
	Trace    *string    `json:"trace"`
	Steps    []caseStep `json:"steps"`
	Root     struct {
		Mode  string   `json:"mode"`
		Start *float64 `json:"start_ms"`
		Dur   *float64 `json:"dur_ms"`
	} `json:"root"`
}

type caseStep struct {
	Kind      string          `json:"kind"`
	Tool      string          `json:"tool"`
	Model     string          `json:"model"`
	Args      json.RawMessage `json:"args"`
	ArgsRaw   *string         `json:"args_raw"`
	Result    json.RawMessage `json:"result"`
	Error     *caseError      `json:"error"`
	ID        string          `json:"id"`
	Attempt   int64           `json:"attempt"`
	Target    string          `json:"target"`
	Key       string          `json:"key"`
	Gate      string          `json:"gate"`
	Outcome   string          `json:"outcome"`
	Start     float64         `json:"start_ms"`
	Dur       float64         `json:"dur_ms"`
	TokensIn  *int64          `json:"tokens_in"`
	TokensOut *int64          `json:"tokens_out"`
	Cost      *float64        `json:"cost_usd"`
	Input     json.RawMessage `json:"input_messages"`
	Output    json.RawMessage `json:"output_messages"`
	Lane      string          `json:"lane"`
	Parent    string          `json:"parent"`
	Trace     int             `json:"trace"`
	Worker    string          `json:"worker"`
	Resend    int             `json:"resend"`
	GateOnly  bool            `json:"gate_only"`

	// Only the project's own cases have these: attributes as they stand, and how
	// often the step comes, each a second after the one before.
	Attributes map[string]any `json:"attributes"`
	Times      int            `json:"times"`
}

type caseError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type expect struct {
	Findings    []wanted       `json:"findings"`
	Absent      []string       `json:"absent"`
	Attempts    map[string]int `json:"attempts"`
	UnknownOpen *int64         `json:"unknown_open"`
}

type wanted struct {
	Kind     string `json:"kind"`
	Run      string `json:"run"`
	Severity string `json:"severity"`
	Status   string `json:"status"`  // only in the project's own cases
	Message  string `json:"message"` // likewise: a part of it
}

func loadCases(t testing.TB, folder string) []caseFile {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	slices.Sort(paths)
	cases := make([]caseFile, 0, len(paths))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var c caseFile
		require.NoError(t, json.Unmarshal(data, &c), path)
		for i := range c.Runs {
			c.Runs[i].Agent += "@" + c.Name // limits differ by case, so each has agents of its own
		}
		cases = append(cases, c)
	}
	return cases
}

// shared gives a folder beside the checkout, or skips the test.
func shared(t testing.TB, name string) string {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "shared", name)
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("%s is not here", folder)
	}
	return folder
}

const basePolicy = `version: 1
detection: {repeat: 3, cycle_rounds: 3, stall_window: 8, unknown_sla: %s, quiet: 2s, in_flight: 2s, settle: 1s, context_bytes: 65536}
redaction: {mode: pseudonym, key: "0123456789abcdef0123456789abcdef", detectors: [email], keys: [], rules: [], idempotency_keys: keep}
retention: {act: 4000d, human: 4000d, think: 4000d, read: 4000d, content: 4000d, findings: 4000d, access_log: 4000d}
`

// policyText makes one policy of all cases.
func policyText(t testing.TB, cases []caseFile, sla string) string {
	t.Helper()
	tools := []map[string]any{}
	limits := []map[string]any{}
	for _, c := range cases {
		for _, name := range sortedKeys(c.Policy.Tools) {
			row := map[string]any{"match": name}
			maps.Copy(row, c.Policy.Tools[name])
			tools = append(tools, row)
		}
		if len(c.Policy.Limits) == 0 {
			continue
		}
		agents := map[string]bool{}
		for _, r := range c.Runs {
			agents[r.Agent] = true
		}
		for _, name := range sortedKeys(agents) {
			row := map[string]any{"match": map[string]string{"agent": name, "task_type": "*"}}
			for k, v := range c.Policy.Limits {
				if k == "wall_time_ms" {
					row["wall_time"] = fmt.Sprintf("%dms", int64(v))
				} else {
					row[k] = v
				}
			}
			limits = append(limits, row)
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, basePolicy, sla)
	for _, part := range []struct {
		name string
		rows []map[string]any
	}{{"tools", tools}, {"limits", limits}} {
		text, err := json.Marshal(part.rows)
		require.NoError(t, err)
		out.WriteString(part.name + ": ")
		out.Write(text)
		out.WriteString("\n")
	}
	return out.String()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
