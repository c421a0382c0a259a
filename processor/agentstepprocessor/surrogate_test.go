package agentstepprocessor

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHalvesOfSurrogatePairsAreReplaced(t *testing.T) {
	for name, tc := range map[string][2]string{
		"a first half":                        {`{"a":"x\ud83d"}`, `{"a":"x\ufffd"}`},
		"a second half":                       {`["\uDE00x"]`, `["\ufffdx"]`},
		"halves in the wrong order":           {`["\ude00\ud83d"]`, `["\ufffd\ufffd"]`},
		"a half before a pair":                {`["\ud83d\ud83d\ude00"]`, `["\ufffd\ud83d\ude00"]`},
		"a half in a name":                    {`{"\ud83d":1}`, `{"\ufffd":1}`},
		"a pair stays":                        {`["\ud83d\ude00"]`, `["\ud83d\ude00"]`},
		"a backslash before a u is no escape": {`["C:\\ud83d"]`, `["C:\\ud83d"]`},
		"an escape after a backslash is one":  {`["\\\ud83d"]`, `["\\\ufffd"]`},
		"other escapes stay":                  {`["\ud7ff\ue000"]`, `["\ud7ff\ue000"]`},
		"a text that is no JSON stays":        {`C:\udc00`, `C:\udc00`},
		"JSON that is cut off stays":          {`{"a":"\ud83d`, `{"a":"\ud83d`},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc[1], wholeSurrogates(tc[0])) })
	}
}

func FuzzWholeSurrogates(f *testing.F) {
	f.Add(`["\ud83d\ude00\ud83d\\\ud8"]`)
	f.Fuzz(func(t *testing.T, text string) {
		out := wholeSurrogates(text)
		if out != wholeSurrogates(out) {
			t.Fatalf("%q is not done: %q", out, wholeSurrogates(out))
		}
		var was, is any
		if json.Unmarshal([]byte(text), &was) == nil {
			require.NoError(t, json.Unmarshal([]byte(out), &is))
			require.Equal(t, was, is) // encoding/json reads a half as U+FFFD too
		}
	})
}
