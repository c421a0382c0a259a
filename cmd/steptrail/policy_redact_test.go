package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const redactPolicy = `version: 1
redaction:
  mode: mask
  key: "${env:STEPTRAIL_REDACTION_KEY}"
  detectors: [email, credit_card, iban, phone, us_ssn, ip, jwt, bearer, api_key, private_key, url_credentials]
  keys: [password]
  rules: [{name: patient_id, pattern: 'PAT-\d{8}'}]
retention: {act: 1d, human: 1d, think: 1d, read: 1d, content: 1d, findings: 1d, access_log: 1d}
`

// redactWith runs policy redact on an input under the policy above.
func redactWith(t *testing.T, input string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	policy, file := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "input")
	require.NoError(t, os.WriteFile(policy, []byte(redactPolicy), 0o600))
	require.NoError(t, os.WriteFile(file, []byte(input), 0o600))
	var out, errs bytes.Buffer
	status = run(t.Context(), append([]string{"policy", "redact", "--policy", policy, file}, args...), &out, &errs)
	return status, out.String(), errs.String()
}

func TestPolicyRedactWritesWhatWouldBeStored(t *testing.T) {
	for name, c := range map[string]struct {
		input string
		args  []string
		want  string
	}{
		"text stays text":      {"write to ann@example.com,\ncard 4111 1111 1111 1111\n", nil, "write to [EMAIL],\ncard [CREDIT_CARD]\n"},
		"text without secrets": {"order 7731", nil, "order 7731"},
		"empty text":           {"", nil, ""},
		"JSON is walked":       {`{"password":"x","n":1}`, nil, `{"password":"[SECRET]","n":1}`},
		"lines give what was found": {
			`{"id":1,"text":"PAT-12345678 and <ann@example.com>"}` + "\n\n" + `{"id":"b","text":"{\"password\":\"x\"}"}` + "\n" + `{"id":null,"text":"clean"}`, nil,
			`{"id":1,"output":"[PATIENT_ID] and <[EMAIL]>","found":[{"detector":"email","count":1},{"detector":"patient_id","count":1}]}` + "\n" +
				`{"id":"b","output":"{\"password\":\"[SECRET]\"}","found":[{"detector":"keys","count":1}]}` + "\n" + `{"id":null,"output":"clean","found":[]}` + "\n",
		},
		"lines as text on demand": {`{"id":1,"text":"ann@example.com"}`, []string{"--text"}, `{"id":1,"text":"[EMAIL]"}`},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, errs := redactWith(t, c.input, c.args...)
			require.Equal(t, exitOK, status, errs)
			require.Equal(t, c.want, out)
		})
	}
}

func TestPolicyRedactReadsAnExport(t *testing.T) {
	paths := exports(t)
	var spans string
	for _, name := range []string{"one.json", "one.jsonl", "list.json"} {
		data, err := os.ReadFile(paths[name])
		require.NoError(t, err)
		status, out, errs := redactWith(t, string(data), "--otlp")
		require.Equal(t, exitOK, status, errs)
		first, _, _ := strings.Cut(out, "\n")
		require.True(t, json.Valid([]byte(first)))
		require.Contains(t, first, `\"mail\": \"[EMAIL]\"`)
		require.NotContains(t, out, "ann@example.com")
		require.Contains(t, first, "agent.step.kind", "as it leaves the processor")
		spans = first
	}
	status, out, _ := redactWith(t, spans, "--otlp")
	require.Equal(t, exitOK, status)
	require.Contains(t, out, "[EMAIL]", "what was redacted before stays so")

	const logs = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"to ann@example.com"}}]}]}]}`
	status, out, errs := redactWith(t, logs, "--otlp")
	require.Equal(t, exitOK, status, errs)
	require.Contains(t, out, `"to [EMAIL]"`)
}

func TestPolicyRedactSaysWhatFailed(t *testing.T) {
	for name, c := range map[string]struct {
		input  string
		args   []string
		status int
		stderr string
	}{
		"a line that is none":      {`{"id":1,"text":"a"}` + "\n" + `{"id":2}`, nil, exitFailure, `line 2: want an object with "id" and "text"`},
		"an export that is none":   {"text", []string{"--otlp"}, exitFailure, "no OTLP export"},
		"an empty export":          {"", []string{"--otlp"}, exitFailure, "empty"},
		"an export of metrics":     {`{"resourceMetrics":[]}`, []string{"--otlp"}, exitFailure, `record 1: neither "resourceSpans" nor "resourceLogs"`},
		"two files":                {"", []string{"more"}, exitUsage, "want one file"},
		"a text and an export":     {"", []string{"--otlp", "--text"}, exitUsage, "exclude each other"},
		"a flag that is none":      {"", []string{"--json"}, exitUsage, "unknown flag"},
		"a policy that is missing": {"", []string{"--policy", "/none"}, exitFailure, "/none"},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, errs := redactWith(t, c.input, c.args...)
			require.Equal(t, c.status, status)
			require.Contains(t, errs, c.stderr)
		})
	}
}
