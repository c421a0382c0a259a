package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const trialPolicy = `version: 1
tools: [{match: refund, class: act, target: "order/{order_id}"}]
redaction: {mode: pseudonym, key: "${env:STEPTRAIL_REDACTION_KEY}", detectors: [email]}
retention: {act: 1d, human: 1d, think: 1d, read: 1d, content: 1d, findings: 1d, access_log: 1d}
rules:
  - {name: refunds, condition: 'attributes["gen_ai.tool.name"] == "refund"', message: "a refund"}
  - {name: sized, condition: 'Len(attributes["size"]) > 0', message: "m"}
`

// exports are the same spans (a refund and a read) in each form of a file.
func exports(t *testing.T) map[string]string {
	t.Helper()
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for i, tool := range []string{"refund", "get_order"} {
		s := spans.AppendEmpty()
		s.SetTraceID([16]byte{1})
		s.SetSpanID([8]byte{byte(i + 1)})
		s.SetName("run\x1b[2J " + tool)
		s.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		s.Attributes().PutStr("gen_ai.tool.name", tool)
		s.Attributes().PutInt("size", 7)
		s.Attributes().PutStr("gen_ai.tool.call.arguments", `{"order_id": "7", "mail": "ann@example.com"}`)
	}
	pb, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	js, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, js, "", "  "))
	dir := t.TempDir()
	paths := map[string]string{}
	for name, content := range map[string][]byte{
		"one.json": indented.Bytes(), "one.pb": pb, "one.jsonl": []byte(string(js) + "\n" + `{"resourceLogs":[]}` + "\n"), "list.json": []byte("[" + string(js) + "]"),
		"none.txt": []byte("no export"), "half.json": js[:len(js)/2], "empty.json": nil, "policy.yaml": []byte(trialPolicy),
	} {
		paths[name] = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(paths[name], content, 0o600))
	}
	return paths
}

func TestPolicyTestTriesARuleOnEveryFormOfAnExport(t *testing.T) {
	paths := exports(t)
	for _, name := range []string{"one.json", "one.pb", "one.jsonl", "list.json"} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := run(t.Context(), []string{"policy", "test", "--policy", paths["policy.yaml"], "--rule", "refunds", paths[name]}, &stdout, &stderr)
			require.Equal(t, exitOK, status, "%s", &stderr)
			out := stdout.String()
			require.Contains(t, out, "1 of 2 spans meet rule refunds (warning)")
			require.Contains(t, out, "01000000000000000000000000000000 0100000000000000")
			require.Contains(t, out, "kind=act  tool=refund  target=order/7")
			require.NotContains(t, out, "\x1b", "a span's name is no terminal's command")
			require.Equal(t, name == "one.jsonl", strings.Contains(out, "1 records hold no spans"))

			stdout.Reset()
			status = run(t.Context(), []string{"policy", "test", "--policy", paths["policy.yaml"], "--rule", "refunds", "--json", paths[name]}, &stdout, &stderr)
			require.Equal(t, exitOK, status)
			var got trialJSON
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &got))
			require.Len(t, got.Met, 1)
			require.Equal(t, "refund", got.Met[0].Attributes["gen_ai.tool.name"])
			require.NotContains(t, stdout.String(), "ann@example.com", "what the policy redacts is gone")
		})
	}
}

func TestPolicyTestSaysWhatFailed(t *testing.T) {
	paths := exports(t)
	p := []string{"policy", "test", "--policy", paths["policy.yaml"]}
	for name, c := range map[string]struct {
		args   []string
		status int
		stdout string
		stderr string
	}{
		"a condition that fails on spans is counted": {append(p, "--rule", "sized", paths["one.pb"]), exitOK, "on 2 spans the condition failed", ""},
		"a rule that is none is a failure":           {append(p, "--rule", "refund", paths["one.pb"]), exitFailure, "", "it has: refunds, sized"},
		"a file that is no export is a failure":      {append(p, "--rule", "refunds", paths["none.txt"]), exitFailure, "", "no OTLP export"},
		"a file that was cut off is a failure":       {append(p, "--rule", "refunds", paths["half.json"]), exitFailure, "", "record 1"},
		"an empty file is a failure":                 {append(p, "--rule", "refunds", paths["empty.json"]), exitFailure, "", "it is empty"},
		"a missing file is a failure":                {append(p, "--rule", "refunds", paths["one.pb"]+"x"), exitFailure, "", "no such file"},
		"a missing policy is a failure":              {[]string{"policy", "test", "--policy", paths["one.pb"] + "x", "--rule", "x", paths["one.pb"]}, exitFailure, "", "policy_file"},
		"no rule is wrong usage":                     {append(p, paths["one.pb"]), exitUsage, "", "--rule must name"},
		"no file is wrong usage":                     {append(p, "--rule", "refunds"), exitUsage, "", "want one file"},
		"an unknown command is wrong usage":          {[]string{"policy", "tset"}, exitUsage, "", "unknown command"},
		"no command prints the help":                 {[]string{"policy"}, exitOK, "Available Commands", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := run(t.Context(), c.args, &stdout, &stderr)
			require.Equal(t, c.status, status, "stderr: %s", &stderr)
			require.Contains(t, stdout.String(), c.stdout)
			require.Contains(t, stderr.String(), c.stderr)
		})
	}
}
