package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

func TestCallFactsComeBackAsTheyWere(t *testing.T) {
	for name, f := range map[string]agent.CallFacts{
		"nothing":      {},
		"an empty one": {Form: agent.ResultFormEmpty},
		"a model's":    {InputSize: 70_000},
		"a person's":   {Decided: true, Decision: agent.DecisionEdited, Tool: "wire", Entries: []agent.Mark{1, 2, 3}},
		"a look's":     {Way: agent.SettlementNotApplied, Task: agent.TaskFailed, Values: []agent.Value{{Name: 1, Mark: 2, ID: true}, {Name: 3, Mark: 4}}},
		"an agent's":   {Words: []agent.CallWord{{ID: "call_1", Sign: agent.SignDeferred, Outside: true}, {ID: "", Sign: agent.SignRefused}}, Open: agent.SignDeferred, Spanless: agent.SignRejected},
		"attempts":     {Attempts: 3, InputSize: 9},
		"all of it": {
			Form: agent.ResultFormPage, Decided: true, Decision: agent.DecisionRejected, Way: agent.SettlementApplied, Task: agent.TaskReceipt, Made: []agent.Mark{9},
			Tool: strings.Repeat("t", 300), Values: []agent.Value{{Name: 1, Mark: 2, ID: true}}, Entries: []agent.Mark{7}, Names: []agent.Mark{8}, HashStated: true, InputSize: 1 << 40,
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(f.Append(nil))
			require.Equal(t, f.IsZero(), text == "")
			require.Equal(t, f, agent.ParseCallFacts(text))
			for n := range text { // cut short, nothing of it is taken
				require.Equal(t, agent.CallFacts{}, agent.ParseCallFacts(text[:n]))
			}
		})
	}
}

func TestCallFactsKeepABoundedNumberOfMarks(t *testing.T) {
	f := agent.CallFacts{Entries: make([]agent.Mark, 1000), Values: make([]agent.Value, 1000), Words: make([]agent.CallWord, 1000)}
	got := agent.ParseCallFacts(string(f.Append(nil)))
	require.Len(t, got.Entries, 32)
	require.Len(t, got.Values, 32)
	require.Len(t, got.Words, 32)
}

func FuzzCallFacts(f *testing.F) {
	one := agent.CallFacts{Tool: "a", Values: []agent.Value{{Name: 1, Mark: 2}}, InputSize: 3}
	f.Add(string(one.Append(nil)))
	f.Fuzz(func(t *testing.T, text string) {
		got := agent.ParseCallFacts(text)
		require.Equal(t, got, agent.ParseCallFacts(string(got.Append(nil))))
	})
}

func TestTheWordsByWhichServicesSayHowATaskStands(t *testing.T) {
	for word, want := range map[string]agent.TaskStatus{
		"queued": agent.TaskReceipt, "PENDING": agent.TaskReceipt, "in_progress": agent.TaskRunning, "Completed": agent.TaskDone, "failed": agent.TaskFailed,
		"active": agent.TaskUnset, "": agent.TaskUnset,
	} {
		require.Equal(t, want, agent.ParseTaskStatus(word), word)
	}
}

func TestWhatAnErrorSaysOfTheRequest(t *testing.T) {
	for _, c := range []struct {
		name                        string
		e                           agent.ErrorEvidence
		unreached, rejected, notLet bool
	}{
		{"too many requests, by code", agent.ErrorEvidence{Code: 429}, true, false, false},
		{"rate limited, by words", agent.ErrorEvidence{Type: "RateLimitError", Text: "slow down"}, true, false, false},
		{"no connection", agent.ErrorEvidence{Type: "ConnectionRefusedError"}, true, false, false},
		{"not let in", agent.ErrorEvidence{Code: 401}, false, false, true},
		{"the input is wrong, by code", agent.ErrorEvidence{Type: "http_422"}, false, true, false},
		{"the input is wrong, by words", agent.ErrorEvidence{Type: "ValidationError", Text: "n must be a number"}, false, true, false},
		{"the input is too long", agent.ErrorEvidence{Type: "context_length_exceeded"}, false, true, false},
		{"a rolled back transaction says nothing of the input", agent.ErrorEvidence{Text: "rolled back"}, false, false, false},
		{"a forbidden call by code", agent.ErrorEvidence{Code: 403, Text: "forbidden"}, false, false, true},
		{"a server's fault", agent.ErrorEvidence{Code: 503}, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.unreached, agent.Unreached(c.e), "unreached")
			require.Equal(t, c.rejected, agent.InputRejected(c.e), "rejected")
			require.Equal(t, c.notLet, agent.Unauthorised(c.e), "not let in")
		})
	}
}
