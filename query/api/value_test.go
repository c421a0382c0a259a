package api

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestTimesHaveNineDigitsAndUTC(t *testing.T) {
	for n, want := range map[int64]string{
		0:             `"1970-01-01T00:00:00.000000000Z"`,
		1:             `"1970-01-01T00:00:00.000000001Z"`,
		-1:            `"1969-12-31T23:59:59.999999999Z"`,
		math.MaxInt64: `"2262-04-11T23:47:16.854775807Z"`,
		math.MinInt64: `"1677-09-21T00:12:43.145224192Z"`,
	} {
		b, err := json.Marshal(Timestamp(n))
		require.NoError(t, err)
		require.Equal(t, want, string(b))
		var back Timestamp
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, Timestamp(n), back)
	}
	var back Timestamp
	require.NoError(t, json.Unmarshal([]byte(`"2026-07-01T14:00:00+02:00"`), &back))
	require.Equal(t, time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).UnixNano(), int64(back))
	require.Error(t, json.Unmarshal([]byte(`"yesterday"`), &back))
}

func TestMoneyIsExactAndHasNoExponent(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "0.000000001", 10: "0.00000001", 500_000_000: "0.5", 1_000_000_000: "1", -1_500_000_000: "-1.5",
		math.MaxInt64: "9223372036.854775807", math.MinInt64: "-9223372036.854775808",
	} {
		b, err := json.Marshal(Money(n))
		require.NoError(t, err)
		require.Equal(t, want, string(b))
	}
	var back Money
	require.NoError(t, json.Unmarshal([]byte("0.1"), &back))
	require.Equal(t, Money(100_000_000), back)
	require.Error(t, json.Unmarshal([]byte(`"x"`), &back))
}

func TestStoredTextIsJSONOrAStringOfIt(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": [1, 2.5e3, "1e999 \" \\"]}`: `{"a":[1,2500,"1e999 \" \\"]}`,
		`{"a":1`:                           `"{\"a\":1"`,
		"":                                 `""`,
		"\"\xff\"":                         `"\"\ufffd\""`,
		"NaN":                              `"NaN"`,
		"-1e999":                           `"-1e999"`,
		"1e-999":                           `0`,
		strings.Repeat("9", 400):           `"` + strings.Repeat("9", 400) + `"`,
		"null":                             `null`,
	} {
		b, err := json.Marshal(NewJSON(text))
		require.NoError(t, err)
		require.JSONEq(t, want, string(b), text)
	}
	b, err := json.Marshal(RawJSON(nil))
	require.NoError(t, err)
	require.Equal(t, "null", string(b))
}

func FuzzStoredTextBecomesOneLineThatEveryClientReads(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":1e400}`, "\"\\", "[1,\n2]", "\xff", `"\ud800"`, "-", "1e", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := json.Marshal(map[string]RawJSON{"v": NewJSON(text), "s": StringJSON(text)})
		require.NoError(t, err)
		require.True(t, utf8.Valid(b))
		require.NotContains(t, string(b), "\n")
		var v map[string]any
		require.NoError(t, json.Unmarshal(b, &v))
	})
}
