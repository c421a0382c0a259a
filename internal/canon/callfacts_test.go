package canon

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

func TestAResultIsEmptyOrAPageOrNeither(t *testing.T) {
	for form, texts := range map[agent.ResultForm][]string{
		agent.ResultFormEmpty: {
			"", "null", "false", "0", "0.0", `""`, "[]", "{}", " [ ] ", `{"rows": [], "n": 0}`, `{"a": {"b": null}}`,
			"none", "None.", "not set", "no results", "No matches found.", "not found", `"no results"`, "Nothing found",
		},
		agent.ResultFormPage: {strings.Repeat("word ", 7), `"` + strings.Repeat("x", 32) + `"`, strings.Repeat("ä", 32)},
		agent.ResultFormUnset: {
			"ok", "1", "true", `{"n": 1}`, "[0]", `{"text": "` + strings.Repeat("x", 100) + `"}`, "north", "nobody knows", strings.Repeat("ä", 31),
		},
	} {
		for _, text := range texts {
			require.Equal(t, form, resultForm(text), "%q", text)
		}
	}
	require.Equal(t, agent.ResultFormPage, resultForm("no "+strings.Repeat("x", maxEmptyText)))
	deep := strings.Repeat(`{"a":`, 50) + "0" + strings.Repeat("}", 50)
	require.Equal(t, agent.ResultFormUnset, resultForm(deep), "bounded in depth")
}

func TestTheNamesOfFieldsThatHoldIDs(t *testing.T) {
	for _, name := range []string{"id", "ID", "order_id", "orderId", "orderID", "a.order_id", "booking-id", "uuid", "reference", "ticket_number"} {
		require.True(t, isIDName(name), name)
	}
	for _, name := range []string{"", "paid", "valid", "amount", "identity", "grid", "Id.name"} {
		require.False(t, isIDName(name), name)
	}
}

func TestWhatAResultSaysOfAnAct(t *testing.T) {
	for text, want := range map[string]agent.CallFacts{
		`{"decision": "applied"}`:           {Decided: true, Decision: agent.DecisionApplied},
		`{"decision": "deny"}`:              {Decided: true, Decision: agent.DecisionRejected},
		`{"decision": "retry"}`:             {Decided: true},
		`{"found": true}`:                   {Way: agent.SettlementApplied},
		`{"found": null}`:                   {},
		`{"applied": false, "found": true}`: {Way: agent.SettlementNotApplied},
		`applied`:                           {},
	} {
		var got agent.CallFacts
		says(&got, text)
		require.Equal(t, want, got, text)
	}
}
