package canon

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/cjson"
)

// masker replaces the word SECRET and what follows it up to a full stop. It
// masks what is stored and keeps the compared text apart by what was hidden.
type masker struct{ refuse string }

func (m masker) Content(raw string) (stored, compared string, replaced int, ok bool) {
	if m.refuse != "" && strings.Contains(raw, m.refuse) {
		return "", "", 0, false
	}
	stored, compared = raw, raw
	for {
		i := strings.Index(stored, "SECRET")
		if i < 0 {
			return stored, compared, replaced, true
		}
		end := i + strings.IndexByte(stored[i:]+".", '.')
		j := strings.Index(compared, "SECRET")
		compared = compared[:j] + fmt.Sprintf("~%x~", sha256.Sum256([]byte(stored[i:end])))[:12] + compared[j+end-i:]
		stored = stored[:i] + "~" + stored[end:]
		replaced++
	}
}

func (masker) Hash(d Domain, form []byte) (out agent.Digest) {
	h := hmac.New(sha256.New, []byte("key "+d))
	h.Write(form)
	copy(out[:], h.Sum(nil))
	return out
}

// analyzed takes the attributes of a span through an analyzer and a reader.
func analyzed(a *Analyzer, p Protector, attrs map[string]string) *Record {
	span := ptrace.NewSpan()
	span.SetTraceID([16]byte{1})
	span.SetSpanID([8]byte{2})
	a.Begin("t", p, 0)
	for _, k := range []string{SystemInstructions, InputMessages, OutputMessages, ToolArguments, ToolResult} {
		raw, ok := attrs[k]
		if !ok {
			continue
		}
		kept := raw
		switch k {
		case SystemInstructions:
			kept = a.SystemInstructions(raw)
		case InputMessages:
			kept = a.InputMessages(raw)
		case OutputMessages:
			kept = a.OutputMessages(raw)
		case ToolArguments:
			kept, _ = a.Arguments(raw)
		case ToolResult:
			kept = a.Result(raw)
		}
		span.Attributes().PutStr(k, kept)
	}
	var st Stated
	st.Reset()
	r := new(Reader)
	rec := r.Read(span, &st)
	a.Attach(rec)
	a.Bodies(rec)
	return rec
}

func input(t *testing.T, messages string) *Record {
	t.Helper()
	return analyzed(NewAnalyzer(1<<20, 1<<20), masker{}, map[string]string{InputMessages: messages})
}

func TestOneMessageInSeveralShapesIsOneInput(t *testing.T) {
	shapes := map[string]string{
		"OTel parts": `[{"role":"user","parts":[{"type":"text","content":"hi"}]},
			{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"f","arguments":{"a":1}}],"finish_reason":"tool_call"},
			{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"{\"b\":2}"}]}]`,
		"OTel parts with arguments in a string and nulls": `[{"role":"user","name":null,"parts":[{"content":"hi","type":"text"}]},
			{"role":"assistant","parts":[{"type":"tool_call","id":"c9","name":"f","arguments":"{ \"a\" : 1.0 }"}]},
			{"role":"tool","parts":[{"type":"tool_call_response","id":"c9","response":{"b":2}}]}]`,
		"OpenAI": `[{"role":"user","content":"hi"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"{\"b\": 2}"}]`,
		"Anthropic": `[{"role":"user","content":[{"type":"text","text":"hi"}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]},
			{"role":"tool","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"{\"b\":2}"}]}]}]`,
		"AI SDK": `[{"role":"user","content":[{"type":"text","text":"hi"}]},
			{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"f","input":{"a":1}}]},
			{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"f","output":{"type":"json","value":{"b":2}}}]}]`,
		"AI SDK 4": `[{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"f","args":{"a":1}}]},
			{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"f","result":{"b":2}}]}]`,
	}
	var want *Record
	for _, name := range []string{"OTel parts", "OTel parts with arguments in a string and nulls", "OpenAI", "Anthropic", "AI SDK", "AI SDK 4"} {
		rec := input(t, shapes[name])
		require.Len(t, rec.Facts, 3, name)
		require.Equal(t, agent.RoleUser, rec.Facts[0].Role, name)
		require.True(t, rec.Facts[0].UserText, name)
		require.Len(t, rec.Facts[1].Calls, 1, name)
		require.Equal(t, "f", rec.Facts[1].Calls[0].Tool, name)
		require.Len(t, rec.Facts[2].Answers, 1, name)
		require.Equal(t, agent.SignOK, rec.Facts[2].Answers[0].Sign, name)
		if want == nil {
			want = rec
			continue
		}
		require.Equal(t, want.Facts[1].Calls[0].Arguments.Digest, rec.Facts[1].Calls[0].Arguments.Digest, name)
		require.Equal(t, want.Facts[2].Answers[0].Result.Digest, rec.Facts[2].Answers[0].Result.Digest, name)
		require.Equal(t, want.Step.Model.Input, rec.Step.Model.Input, name)
	}
}

func TestACallAndItsExecutionHaveOneDigest(t *testing.T) {
	asked := input(t, `[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"f","arguments":"{\"a\":1,\"b\":[2]}"}]},
		{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"Error: no such order"}]}]`)
	ran := analyzed(NewAnalyzer(1<<20, 0), masker{}, map[string]string{ToolArguments: `{"b":[2.0],"a":1}`, ToolResult: "Error: no such order"})
	require.Equal(t, asked.Facts[0].Calls[0].Arguments.Digest, ran.Step.Call.Arguments.Digest)
	require.Equal(t, asked.Facts[1].Answers[0].Result.Digest, ran.Step.Call.Result.Digest)
	require.Equal(t, agent.SignRejected, asked.Facts[1].Answers[0].Sign)
	require.False(t, ran.Step.Call.ArgumentsSent.IsZero())
}

func TestHiddenValuesStayApartInWhatIsComparedAndAreNotStored(t *testing.T) {
	one := input(t, `[{"role":"user","parts":[{"type":"text","content":"SECRET 1. and the rest"}]}]`)
	two := input(t, `[{"role":"user","parts":[{"type":"text","content":"SECRET 2. and the rest"}]}]`)
	again := input(t, `[{"role":"user","parts":[{"type":"text","content":"SECRET 1. and the rest"}]}]`)
	require.Equal(t, `{"role":"user","parts":[{"type":"text","content":"~. and the rest"}]}`, one.Bodies[0].Text) //nolint:testifylint // the very bytes
	require.Equal(t, one.Bodies[0].Text, two.Bodies[0].Text)
	require.NotEqual(t, one.Bodies[0].Ref, two.Bodies[0].Ref, "their facts differ")
	require.Equal(t, one.Bodies[0].Ref, again.Bodies[0].Ref)
	require.NotEqual(t, one.Step.Model.Input, two.Step.Model.Input)
	require.Equal(t, one.Step.Model.Input, again.Step.Model.Input)
}

func TestPlaceholdersAndAbsentContentCompareToNothing(t *testing.T) {
	for _, raw := range []string{"[REDACTED]", `{"a":"__REDACTED__"}`, "****"} {
		rec := analyzed(NewAnalyzer(1<<20, 0), masker{}, map[string]string{ToolArguments: raw, ToolResult: raw})
		require.Equal(t, agent.RecordedOpaque, rec.Step.Call.Arguments.State, raw)
		require.True(t, rec.Step.Call.Arguments.Digest.IsZero(), raw)
		require.True(t, rec.Step.Call.ArgumentsSent.IsZero(), raw)
	}
	rec := analyzed(NewAnalyzer(1<<20, 0), masker{}, nil)
	require.Equal(t, agent.Content{}, rec.Step.Call.Arguments)
	require.True(t, rec.Step.Model.Input.IsZero())
	rec = input(t, `[{"role":"user","parts":[{"type":"text","content":"[REDACTED]"}]}]`)
	require.True(t, rec.Step.Model.Input.IsZero())
	require.True(t, rec.Facts[0].Text.IsZero())
	require.Len(t, rec.Bodies, 1, "it is kept as it came")
	cut := input(t, `[{"role":"user","parts":[{"type":"text","content":"cut of`)
	require.True(t, cut.Step.Model.Input.IsZero(), "JSON that was cut off")
	require.Len(t, cut.Bodies, 1)
}

func TestWhatRedactionRefusesIsNotKept(t *testing.T) {
	p := masker{refuse: "BOMB"}
	a := NewAnalyzer(1<<20, 1<<20)
	rec := analyzed(a, p, map[string]string{
		InputMessages: `[{"role":"user","parts":[{"type":"text","content":"BOMB"}]},{"role":"user","parts":[]}]`, ToolArguments: `{"x":"BOMB"}`,
	})
	require.Equal(t, 2, a.Refused)
	require.Equal(t, agent.RecordedOpaque, rec.Step.Call.Arguments.State)
	for _, b := range rec.Bodies {
		require.NotContains(t, b.Text, "BOMB")
		require.True(t, cjson.Valid(b.Text))
	}
	require.Len(t, rec.Step.Model.Context, 2)
}

func TestALargeBodyIsCutOnARuneWithItsFullSizeAndHash(t *testing.T) {
	long := strings.Repeat("äöü", 2000)
	message := `{"role":"assistant","parts":[{"type":"text","content":"` + long + `"}]}`
	a := NewAnalyzer(1001, 0)
	rec := analyzed(a, masker{}, map[string]string{
		OutputMessages: "[" + message + "]", ToolResult: long, InputMessages: `[{"role":"user","content":"short"}]`,
	})
	require.Len(t, a.Cut, 2)
	require.Equal(t, "gen_ai.output.messages[0]", a.Cut[0].Key)
	require.Equal(t, len(message), a.Cut[0].Size)
	require.Equal(t, sha256.Sum256([]byte(message)), a.Cut[0].Hash)
	for _, b := range rec.Bodies {
		require.True(t, utf8.ValidString(b.Text))
		require.True(t, cjson.Valid(b.Text))
		require.LessOrEqual(t, len(b.Text), 3*1001)
	}
	body := rec.Bodies[1].Text
	size, _ := cjson.Lookup(body, "truncated", "size")
	require.Equal(t, fmt.Sprint(len(message)), size)
	role, _ := cjson.Lookup(body, "role")
	require.Equal(t, "assistant", role)
	require.Equal(t, int64(len(long)), rec.Step.Call.Result.Size)
	whole := analyzed(NewAnalyzer(1<<20, 0), masker{}, map[string]string{ToolResult: long, OutputMessages: "[" + message + "]"})
	require.Equal(t, whole.Step.Call.Result.Digest, rec.Step.Call.Result.Digest, "compared by the whole of it")
	require.Equal(t, whole.Step.Model.Output, rec.Step.Model.Output)
}

func TestTheCacheChangesNothing(t *testing.T) {
	with, without := NewAnalyzer(1<<20, 4096), NewAnalyzer(1<<20, 0)
	history := ""
	for i := range 60 {
		history += fmt.Sprintf(`{"role":"user","parts":[{"type":"text","content":"SECRET %d. turn %d"}]},`, i%7, i%11)
		attrs := map[string]string{InputMessages: "[" + strings.TrimSuffix(history, ",") + "]", SystemInstructions: `[{"type":"text","content":"be kind"}]`}
		a, b := analyzed(with, masker{}, attrs), analyzed(without, masker{}, attrs)
		require.Equal(t, b.Step, a.Step)
		require.Equal(t, b.Facts, a.Facts)
		require.Equal(t, b.Bodies, a.Bodies)
		require.Equal(t, without.Replaced, with.Replaced)
	}
	require.LessOrEqual(t, with.cache.bytes, 4096)
}

func TestIdsAndNamesInMessagesAreThoseThatWereSent(t *testing.T) {
	rec := input(t, `[{"role":"assistant","parts":[{"type":"tool_call","id":"SECRET-call.1","name":"SECRETtool.x","arguments":{"a":"SECRET 1."}}]},
		{"role":"tool","parts":[{"type":"tool_call_response","id":"SECRET-call.1","response":"SECRET 2."}]}]`)
	require.Equal(t, "SECRET-call.1", rec.Facts[0].Calls[0].ID)
	require.Equal(t, "SECRETtool.x", rec.Facts[0].Calls[0].Tool)
	require.Equal(t, "SECRET-call.1", rec.Facts[1].Answers[0].ID)
	require.NotContains(t, rec.Bodies[1].Text, "SECRET 2")
}

func TestOnlyAPersonsWordsAreUserText(t *testing.T) {
	for text, want := range map[string]bool{
		`{"role":"user","parts":[{"type":"text","content":"hi"}]}`:                                  true,
		`{"role":"human","content":"hi"}`:                                                           true,
		`{"role":"user","parts":[{"type":"text","content":"  "}]}`:                                  false,
		`{"role":"user","parts":[{"type":"tool_call_response","id":"c","response":"x"}]}`:           false,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}`:        false,
		`{"role":"assistant","parts":[{"type":"text","content":"hi"}]}`:                             false,
		`{"role":"user","parts":[{"type":"text","content":"hi"},{"type":"blob","content":"aGk="}]}`: true,
	} {
		require.Equal(t, want, input(t, "["+text+"]").Facts[0].UserText, text)
	}
}

func TestAToolErrorIsSeenInTheAnswer(t *testing.T) {
	for text, want := range map[string]agent.Sign{
		`{"role":"tool","tool_call_id":"c","content":"Error: invalid recipient"}`:                                                                     agent.SignRejected,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":"order does not exist"}]}`:                       agent.SignRejected,
		`{"role":"tool","tool_call_id":"c","content":"{\"ok\":true}"}`:                                                                                agent.SignOK,
		`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","output":{"type":"error-text","value":"order does not exist"}}]}`:           agent.SignRejected,
		`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","output":{"type":"error-json","value":{"text":"timed out"}}}]}`:             agent.SignLost,
		`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","output":{"type":"execution-denied","reason":"too much"}}]}`:                agent.SignRefused,
		`{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":{"denied":true,"reason":"too much"}}]}`:                             agent.SignRefused,
		`{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":{"denied":true,"loan":7}}]}`:                                        agent.SignOK,
		`{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":"AI_NoSuchToolError: Model tried to call unavailable tool 'x'."}]}`: agent.SignRefused,
		`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","output":{"type":"text","value":"the error-text was read"}}]}`:              agent.SignOK,
		`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","output":{"type":"execution-denied","by":"x","of":"y"}}]}`:                  agent.SignOK,
	} {
		answers := input(t, "["+text+"]").Facts[0].Answers
		require.Len(t, answers, 1, text)
		require.Equal(t, want, answers[0].Sign, text)
		require.Equal(t, "c", answers[0].ID, text)
	}
}
