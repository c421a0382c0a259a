package agent_test

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

var update = flag.Bool("update", false, "write the results into the scenario files")

// TestScenarios runs testdata/*.txt: spans in, runs out. testdata/README.md
// describes the format. Every scenario is also run shuffled and with every span
// twice, which must not change the result.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		scenarios := strings.Split(string(text), "\n== ")
		for i := range scenarios {
			if i == 0 && !strings.HasPrefix(scenarios[i], "== ") {
				continue // what the file is about
			}
			name, body, ok := strings.Cut(strings.TrimPrefix(scenarios[i], "== "), "\n")
			require.True(t, ok, file)
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+name, func(t *testing.T) {
				spans, want, ok := strings.Cut(body, "\n=>\n")
				require.True(t, ok || *update, "no => in scenario")
				in := parseScenario(t, spans)
				got := describe(agent.Runs(in))
				for seed := range uint64(8) {
					require.Equal(t, got, describe(agent.Runs(disordered(in, seed))), "order and repetition must not matter")
				}
				if *update {
					scenarios[i] = name + "\n" + strings.TrimRight(spans, "\n") + "\n=>\n" + got
					if i == 0 {
						scenarios[i] = "== " + scenarios[i]
					}
					return
				}
				require.Equal(t, strings.TrimSpace(want), strings.TrimSpace(got))
			})
		}
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(strings.Join(scenarios, "\n== ")), 0o600))
		}
	}
}

// disordered repeats every step, as itself or as a copy, and shuffles all.
func disordered(in agent.Input, seed uint64) agent.Input {
	r := rand.New(rand.NewPCG(seed, 7))
	out := in
	out.Steps, out.Logs = slices.Clone(in.Steps), slices.Clone(in.Logs)
	for _, s := range in.Steps {
		if r.IntN(2) == 0 {
			twin := *s
			s = &twin
		}
		out.Steps = append(out.Steps, s)
	}
	for range r.IntN(3) {
		out.Logs = append(out.Logs, in.Logs...)
	}
	r.Shuffle(len(out.Steps), func(i, j int) { out.Steps[i], out.Steps[j] = out.Steps[j], out.Steps[i] })
	r.Shuffle(len(out.Logs), func(i, j int) { out.Logs[i], out.Logs[j] = out.Logs[j], out.Logs[i] })
	return out
}

func parseScenario(t testing.TB, text string) agent.Input {
	t.Helper()
	in := agent.Input{Facts: map[agent.Ref]*agent.MessageFacts{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		switch words[0] {
		case "quiet":
			in.Quiet = true
		case "silent":
			in.Silent = true
		case "msg":
			f := parseMessage(t, words[1:])
			in.Facts[f.Ref] = f
		case "log":
			in.Logs = append(in.Logs, parseLog(t, words[1:]))
		default:
			in.Steps = append(in.Steps, parseSpan(t, words))
		}
	}
	return in
}

func traceOf(name string) (id agent.TraceID) {
	copy(id[:], name)
	return id
}

func spanOf(name string) (id agent.SpanID) {
	copy(id[:], name)
	return id
}

func refOf(name string) (r agent.Ref) {
	copy(r[:], name)
	return r
}

func digestOf(text string) (d agent.Digest) {
	if text != "" {
		sum := sha256.Sum256([]byte(text))
		copy(d[:], sum[:])
	}
	return d
}

func recorded(text string) agent.Content {
	if text == "***" {
		return agent.Content{State: agent.RecordedOpaque, Size: 3}
	}
	return agent.Content{State: agent.RecordedYes, Digest: digestOf(text), Size: int64(len(text))}
}

// parseMessage reads: NAME user|system | NAME asks TOOL[:ID[:ARGS]]… | NAME
// answers [ID]:SIGN[:RESULT]…
func parseMessage(t testing.TB, words []string) *agent.MessageFacts {
	t.Helper()
	f := &agent.MessageFacts{Ref: refOf(words[0])}
	for _, w := range words[2:] {
		p := append(strings.Split(w, ":"), "", "")
		switch words[1] {
		case "asks":
			c := agent.RequestedCall{Tool: p[0], ID: p[1]}
			if p[2] != "" {
				c.Arguments = recorded(p[2])
			}
			if kind, ok := strings.CutPrefix(p[2], "kind="); ok {
				c.Arguments = agent.Content{}
				c.Kind, _ = agent.ParseKind(kind)
				c.KindSource = agent.KindSourcePolicy
			}
			f.Calls = append(f.Calls, c)
			f.Role = agent.RoleAssistant
		case "answers":
			sign, ok := agent.ParseSign(p[1])
			require.True(t, ok, w)
			a := agent.CallAnswer{ID: p[0], Sign: sign}
			if p[2] != "" {
				a.Result = recorded(p[2])
			}
			f.Answers = append(f.Answers, a)
			f.Role = agent.RoleTool
		}
	}
	if words[1] == "user" {
		f.Role, f.UserText = agent.RoleUser, true
	}
	return f
}

// parseLog reads: TRACE/SPAN in|out POSITION MESSAGE
func parseLog(t testing.TB, words []string) agent.LogContent {
	t.Helper()
	trace, span, _ := strings.Cut(words[0], "/")
	n, err := strconv.ParseInt(words[2], 10, 32)
	require.NoError(t, err)
	return agent.LogContent{
		Tenant: "acme", Unit: traceOf(trace).String(), Trace: traceOf(trace), Span: spanOf(span),
		Position: int32(n), Output: words[1] == "out", Message: refOf(words[3]),
	}
}

// parseSpan reads: TRACE/SPAN[<PARENT] OP START-END [NAME=VALUE…], times in
// milliseconds.
func parseSpan(t testing.TB, words []string) *agent.Step {
	t.Helper()
	id, parent, _ := strings.Cut(words[0], "<")
	trace, span, ok := strings.Cut(id, "/")
	require.True(t, ok, words)
	s := &agent.Step{Tenant: "acme", Trace: traceOf(trace), Span: spanOf(span), Parent: spanOf(parent), Name: span, Service: "svc", Index: -1}
	if words[1] != "span" {
		s.Op, ok = agent.ParseOp(words[1])
		require.True(t, ok, words)
	}
	from, to, ok := strings.Cut(words[2], "-")
	require.True(t, ok, words)
	start, err := strconv.ParseFloat(from, 64)
	require.NoError(t, err)
	end, err := strconv.ParseFloat(to, 64)
	require.NoError(t, err)
	s.Start, s.End, s.Sign = int64(start*1e6)+1e15, int64(end*1e6)+1e15, agent.SignOK
	if to == "0" {
		s.End, s.Sign = 0, agent.SignNone
	}
	for _, w := range words[3:] {
		name, value, ok := strings.Cut(w, "=")
		require.True(t, ok, w)
		setField(t, s, name, value)
	}
	if s.Unit = s.Explicit(); s.Unit == "" {
		s.Unit = s.Trace.String()
	}
	return s
}

func setField(t testing.TB, s *agent.Step, name, value string) {
	t.Helper()
	texts := map[string]*string{
		"run": &s.RunID, "drun": &s.DialectRun, "service": &s.Service, "process": &s.Instance, "agent": &s.Agent, "step": &s.StepID,
		"engine": &s.DialectStep, "ns": &s.Checkpoint, "tool": &s.Call.Tool, "call": &s.Call.ID, "target": &s.Call.Target,
		"key": &s.Call.Key, "model": &s.Model.Requested, "response": &s.Model.ResponseID, "url": &s.HTTP.URL, "method": &s.HTTP.Method,
		"httpkey": &s.HTTP.Key, "error": &s.ErrorType, "to": &s.HandoffTo, "spankind": &s.SpanKind, "scope": &s.Scope,
		"session": &s.Session, "escalation": &s.Escalation, "dialect": &s.Dialect,
	}
	if p, ok := texts[name]; ok {
		*p = value
		return
	}
	var ok bool
	switch name {
	case "weak":
		s.DialectRunWeak, ok = value == "yes", true
	case "kind", "policy":
		s.Kind, ok = agent.ParseKind(value)
		if s.KindSource = agent.KindSourceReported; name == "policy" {
			s.KindSource = agent.KindSourcePolicy
		}
	case "gate":
		s.Call.Gate, ok = agent.ParseGate(value)
	case "sign":
		s.Sign, ok = agent.ParseSign(value)
	case "outcome":
		s.Outcome, ok = agent.ParseOutcome(value)
	case "ended":
		s.RunOutcome, ok = agent.ParseRunOutcome(value)
	case "args":
		s.Call.Arguments, ok = recorded(value), true
	case "result":
		s.Call.Result, ok = recorded(value), true
	case "in":
		s.Model.Input, ok = digestOf(value), true
	case "out":
		s.Model.Output, ok = digestOf(value), true
	case "reads", "writes":
		for m := range strings.SplitSeq(value, ",") {
			if name == "reads" {
				s.Model.Context = append(s.Model.Context, refOf(m))
			} else {
				s.Model.Outputs = append(s.Model.Outputs, refOf(m))
			}
		}
		ok = true
	case "counts":
		n, err := strconv.ParseUint(value, 10, 8)
		require.NoError(t, err)
		s.Facts, ok = encoded(agent.CallFacts{Attempts: uint8(n)}), true
	case "open":
		f := agent.ParseCallFacts(s.Facts)
		f.Open, ok = agent.ParseSign(value)
		s.Facts = encoded(f)
	case "spanless":
		f := agent.ParseCallFacts(s.Facts)
		f.Spanless, ok = agent.ParseSign(value)
		s.Facts = encoded(f)
	case "says": // CALL:SIGN[:outside]
		p := append(strings.Split(value, ":"), "")
		f := agent.ParseCallFacts(s.Facts)
		w := agent.CallWord{ID: p[0], Outside: p[2] == "outside"}
		w.Sign, ok = agent.ParseSign(p[1])
		f.Words = append(f.Words, w)
		s.Facts = encoded(f)
	case "attempt", "status", "tokens":
		n, err := strconv.ParseInt(value, 10, 32)
		require.NoError(t, err)
		switch name {
		case "attempt":
			s.Attempt = int32(n)
		case "status":
			s.StatusCode = int32(n)
		case "tokens":
			s.Model.Tokens = agent.Tokens{Known: true, Input: n}
		}
		ok = true
	case "link":
		trace, span, _ := strings.Cut(value, "/")
		s.Links, ok = append(s.Links, agent.Link{Trace: traceOf(trace), Span: spanOf(span)}), true
	}
	require.True(t, ok, "%s=%s", name, value)
}

func encoded(f agent.CallFacts) string { return string(f.Append(nil)) }

// describe writes runs down as scenario files have them.
func describe(runs []*agent.Run) string {
	var out strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&out, "run %s %s", plainTrace(r.ID), r.IDSource)
		if r.Agent != "svc" {
			fmt.Fprintf(&out, " agent=%s", r.Agent)
		}
		if r.Outcome != agent.RunOutcomeUnset {
			fmt.Fprintf(&out, " outcome=%s", r.Outcome)
		}
		if len(r.Turns) > 0 {
			fmt.Fprintf(&out, " turns=%d", len(r.Turns))
		}
		if r.CallsNotSeen > 0 {
			fmt.Fprintf(&out, " not-seen=%d", r.CallsNotSeen)
		}
		_, used := agent.UsageOf(r)
		if used.Tokens.Known {
			fmt.Fprintf(&out, " tokens=%d", used.Tokens.Total())
		}
		out.WriteByte('\n')
		for i := range r.Steps {
			describeStep(&out, &r.Steps[i])
		}
	}
	return out.String()
}

func describeStep(out *strings.Builder, st *agent.RunStep) {
	fmt.Fprintf(out, "  %s", st.Kind)
	if st.Source != agent.KindSourceReported && st.Op != agent.OpModel {
		fmt.Fprintf(out, "(%s)", st.Source)
	}
	if st.Tool != "" {
		fmt.Fprintf(out, " %s", st.Tool)
	}
	if st.HandoffTo != "" {
		fmt.Fprintf(out, " to=%s", st.HandoffTo)
	}
	if !strings.HasPrefix(st.ID, "~") || strings.HasPrefix(st.ID, "~~") {
		fmt.Fprintf(out, " id=%s", st.ID)
	}
	if st.Lane > 0 {
		fmt.Fprintf(out, " lane=%d:%s", st.Lane, st.LaneName)
	}
	for i := range st.Attempts {
		a := &st.Attempts[i]
		fmt.Fprintf(out, " | %d %s", a.Number, cmp.Or(a.Outcome.String(), "open"))
		if !a.Executed {
			out.WriteString(" not-run")
		}
		if a.NoSpan {
			out.WriteString(" no-span")
			if !a.Seen {
				out.WriteString(" not-seen")
			}
		}
		if a.Gate != agent.GateUnset {
			fmt.Fprintf(out, " gate=%s", a.Gate)
		}
		if a.Key != "" {
			fmt.Fprintf(out, " key=%s", a.Key)
		}
		if a.Requests > 0 {
			fmt.Fprintf(out, " requests=%d", a.Requests)
		}
		if a.UnsafeRequest {
			out.WriteString(" unsafe-request")
		}
		var names []string
		for _, s := range a.Spans {
			names = append(names, s.Name)
		}
		fmt.Fprintf(out, " [%s", strings.Join(names, " "))
		if a.Part > 0 {
			fmt.Fprintf(out, " #%d", a.Part)
		}
		out.WriteByte(']')
	}
	out.WriteByte('\n')
}

// plainTrace turns a trace id that a scenario made of a name into that name.
func plainTrace(id string) string {
	t, err := agent.ParseTraceID(id)
	if err != nil {
		return id
	}
	return "trace:" + strings.TrimRight(string(t[:]), "\x00")
}
