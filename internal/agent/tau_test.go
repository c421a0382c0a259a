package agent_test

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// The types below read the one export that the test needs. The product reads
// spans in package canon, which this package must not know.
type otlpValue struct {
	String *string `json:"stringValue"`
	Int    *string `json:"intValue"`
}

type otlpSpan struct {
	TraceID      string `json:"traceId"`
	SpanID       string `json:"spanId"`
	ParentSpanID string `json:"parentSpanId"`
	Start        string `json:"startTimeUnixNano"`
	End          string `json:"endTimeUnixNano"`
	Attributes   []struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	} `json:"attributes"`
}

type otlpRequest struct {
	ResourceSpans []struct {
		ScopeSpans []struct {
			Spans []otlpSpan `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type message struct {
	Role  string `json:"role"`
	Parts []struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Content   json.RawMessage `json:"content"`
		Arguments json.RawMessage `json:"arguments"`
		Response  json.RawMessage `json:"response"`
		Result    json.RawMessage `json:"result"`
	} `json:"parts"`
}

// sharedFile finds a file of the shared contract beside the repository.
func sharedFile(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here", filepath.Join(parts...))
	}
	return path
}

// tauInputs reads the airline runs, one Input per exported request.
func tauInputs(t testing.TB) []agent.Input {
	t.Helper()
	f, err := os.Open(sharedFile(t, "real", "tau-bench-airline-0-99.otlp.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	var inputs []agent.Input
	for lines.Scan() {
		var req otlpRequest
		require.NoError(t, json.Unmarshal(lines.Bytes(), &req))
		in := agent.Input{Facts: map[agent.Ref]*agent.MessageFacts{}}
		for _, r := range req.ResourceSpans {
			for _, sc := range r.ScopeSpans {
				for i := range sc.Spans {
					in.Steps = append(in.Steps, tauStep(t, &sc.Spans[i], in.Facts))
				}
			}
		}
		inputs = append(inputs, in)
	}
	require.NoError(t, lines.Err())
	return inputs
}

func tauStep(t testing.TB, sp *otlpSpan, facts map[agent.Ref]*agent.MessageFacts) *agent.Step {
	t.Helper()
	s := &agent.Step{Tenant: "default", Service: "tau-airline", Index: -1}
	var err error
	s.Trace, err = agent.ParseTraceID(sp.TraceID)
	require.NoError(t, err)
	s.Span, err = agent.ParseSpanID(sp.SpanID)
	require.NoError(t, err)
	if sp.ParentSpanID != "" {
		s.Parent, err = agent.ParseSpanID(sp.ParentSpanID)
		require.NoError(t, err)
	}
	s.Unit = s.Trace.String()
	s.Start, _ = strconv.ParseInt(sp.Start, 10, 64)
	s.End, _ = strconv.ParseInt(sp.End, 10, 64)
	s.Sign = agent.SignOK
	for _, a := range sp.Attributes {
		if a.Value.String == nil {
			continue
		}
		v := *a.Value.String
		switch a.Key {
		case "gen_ai.operation.name":
			s.Op = map[string]agent.Op{"chat": agent.OpModel, "execute_tool": agent.OpTool, "invoke_agent": agent.OpAgent}[v]
		case "gen_ai.agent.name":
			s.Agent = v
		case "gen_ai.request.model":
			s.Model.Requested = v
		case "gen_ai.tool.name":
			s.Call.Tool = v
		case "gen_ai.tool.call.id":
			s.Call.ID = v
		case "gen_ai.tool.call.arguments":
			s.Call.Arguments = content(v)
		case "gen_ai.tool.call.result":
			s.Call.Result = content(v)
			s.Sign = agent.JudgeResult(agent.ResultEvidence{Recorded: true, Text: v})
		case "gen_ai.input.messages":
			s.Model.Context = tauMessages(t, v, facts)
		case "gen_ai.output.messages":
			s.Model.Outputs = tauMessages(t, v, facts)
		}
	}
	return s
}

// content hashes JSON with its keys in order, anything else as it is.
func content(text string) agent.Content {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		canonical, _ := json.Marshal(v)
		text = string(canonical)
	}
	sum := sha256.Sum256([]byte(text))
	c := agent.Content{State: agent.RecordedYes, Size: int64(len(text))}
	copy(c.Digest[:], sum[:])
	return c
}

func tauMessages(t testing.TB, text string, facts map[agent.Ref]*agent.MessageFacts) []agent.Ref {
	t.Helper()
	var raw []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &raw))
	refs := make([]agent.Ref, len(raw))
	for i, r := range raw {
		sum := sha256.Sum256(r)
		copy(refs[i][:], sum[:])
		var m message
		require.NoError(t, json.Unmarshal(r, &m))
		f := &agent.MessageFacts{Ref: refs[i]}
		for _, p := range m.Parts {
			switch p.Type {
			case "tool_call":
				f.Calls = append(f.Calls, agent.RequestedCall{ID: p.ID, Tool: p.Name, Arguments: content(string(p.Arguments))})
			case "tool_call_response":
				f.Answers = append(f.Answers, agent.CallAnswer{ID: p.ID, Sign: agent.SignOK})
			case "text":
				f.UserText = m.Role == "user"
			}
		}
		facts[refs[i]] = f
	}
	return refs
}

type tauTruth struct {
	PerRun []struct {
		Index, Chats  int
		ToolCalls     int `json:"tool_calls"`
		ToolErrors    int `json:"tool_errors"`
		UnansweredNow int `json:"unanswered_calls"`
	} `json:"per_run"`
}

func readTruth(t testing.TB) tauTruth {
	t.Helper()
	text, err := os.ReadFile(sharedFile(t, "real", "tau-bench-airline-0-99.truth.json"))
	require.NoError(t, err)
	var truth tauTruth
	require.NoError(t, json.Unmarshal(text, &truth))
	return truth
}

func TestTheHundredRealRunsHaveTheirModelAndToolCalls(t *testing.T) {
	truth := readTruth(t)
	inputs := tauInputs(t)
	require.Len(t, inputs, len(truth.PerRun))
	all := agent.Input{Facts: map[agent.Ref]*agent.MessageFacts{}}
	for i, in := range inputs {
		all.Steps = append(all.Steps, in.Steps...)
		maps.Copy(all.Facts, in.Facts)
		want := truth.PerRun[i]
		runs := agent.Runs(in)
		require.Len(t, runs, 1, "request %d", i)
		chats, tools := callsOf(runs[0])
		require.Equal(t, []int{want.Chats, want.ToolCalls}, []int{chats, tools}, "run %d", i)
	}
	for _, quiet := range []bool{false, true} {
		shuffled := all
		shuffled.Quiet = quiet
		shuffled.Steps = append(append([]*agent.Step(nil), all.Steps...), all.Steps...)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled.Steps), func(i, j int) {
			shuffled.Steps[i], shuffled.Steps[j] = shuffled.Steps[j], shuffled.Steps[i]
		})
		byID := map[string]*agent.Run{}
		runs := agent.Runs(shuffled)
		require.Len(t, runs, len(truth.PerRun))
		for _, r := range runs {
			byID[r.ID] = r
		}
		for i, in := range inputs {
			r := byID[in.Steps[0].Unit]
			require.NotNil(t, r)
			chats, tools := callsOf(r)
			require.Equal(t, []int{truth.PerRun[i].Chats, truth.PerRun[i].ToolCalls}, []int{chats, tools}, "run %d, quiet %v", i, quiet)
			require.Zero(t, r.CallsNotSeen)
			require.Equal(t, "tau-airline", r.Agent)
		}
	}
}

// callsOf counts model calls and tool calls as the API does.
func callsOf(r *agent.Run) (chats, tools int) {
	n := agent.CountsOf(r)
	return int(n[agent.KindThink].Steps), int(n[agent.KindRead].Attempts + n[agent.KindAct].Attempts)
}
