package dialect

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/canon"
)

func TestAListOfEventsIsCutIntoInputAndOutput(t *testing.T) {
	const user, assistant, choice = `{"role":"user","content":"hi"}`, `{"role":"assistant","content":"ok"}`, `{"event.name":"gen_ai.choice","message":{"role":"assistant"}}`
	for name, c := range map[string]struct {
		list          string
		whole, ok     bool
		input, output string
	}{
		"choices at the end":              {"[" + user + ", " + assistant + " , " + choice + "]", false, true, "[" + user + ", " + assistant + "]", "[" + choice + "]"},
		"several choices":                 {"[" + user + "," + choice + "," + choice + "]", false, true, "[" + user + "]", "[" + choice + "," + choice + "]"},
		"assistants at the end":           {"[" + user + "," + assistant + "," + assistant + "]", false, true, "[" + user + "]", "[" + assistant + "," + assistant + "]"},
		"nothing but an answer":           {"[" + assistant + "]", false, true, "", "[" + assistant + "]"},
		"no answer":                       {"[" + assistant + "," + user + "]", false, true, "[" + assistant + "," + user + "]", ""},
		"a conversation":                  {"[" + user + "," + assistant + "]", true, true, "[" + user + "," + assistant + "]", ""},
		"an empty list":                   {"[]", false, false, "", ""},
		"no list":                         {user, false, false, "", ""},
		"cut off":                         {"[" + user, false, false, "", ""},
		"cut off inside an element":       {`[{"role":"user","content":"h`, false, false, "", ""},
		"a broken element":                {`[{"role":"user"},{]`, false, false, "", ""},
		"texts and numbers for an answer": {`["x", 1]`, false, true, `["x", 1]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			at := pcommon.NewMap()
			require.Equal(t, c.ok, putEvents(at, c.list, c.whole))
			for key, want := range map[string]string{canon.InputMessages: c.input, canon.OutputMessages: c.output} {
				got := ""
				if v, ok := at.Get(key); ok {
					got = v.Str()
				}
				require.Equal(t, want, got, key)
			}
		})
	}
}
