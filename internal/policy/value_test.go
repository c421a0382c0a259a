package policy

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"400d": 400 * day, "2m": 2 * time.Minute, "90s": 90 * time.Second, "250ms": 250 * time.Millisecond, "1h30m": 90 * time.Minute,
		"1.5h": 90 * time.Minute, "0.000001ms": 1, "0s": 0, "1d1d": 2 * day, "999999999999d": math.MaxInt64,
	} {
		got, err := parseDuration(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "5", "-5s", "5 s", "5w", "5y", "s", "1.s", ".5s", "1e3s", "5µs", "5s\n", "0.0000001ms", strings.Repeat("9", 13) + "s"} {
		_, err := parseDuration(text)
		assert.Error(t, err, "%q", text)
	}
}

func TestADurationThatWasWrittenIsReadAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Min(0).Draw(t, "duration"))
		got, err := parseDuration(formatDuration(want))
		if err != nil || got != want {
			t.Fatalf("%s: %d, %v", formatDuration(want), got, err)
		}
	})
}

func TestAmounts(t *testing.T) {
	for text, want := range map[string]int64{
		"2.5": 2_500_000_000, "0": 0, "10": 10_000_000_000, "0.50": 500_000_000, "0.000000001": 1, "1e-05": 10_000, "1.5E+2": 150_000_000_000,
		"0.1000000000000": 100_000_000, "9223372036.854775807": math.MaxInt64, "99999999999999999999": math.MaxInt64, "1e99": math.MaxInt64,
	} {
		got, err := parseDecimal(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-1", "+1", ".5", "5.", "1e", "1e999", "0x10", "1_000", "inf", "NaN", "0.0000000001", "1e-99", "$1", strings.Repeat("1", 31)} {
		_, err := parseDecimal(text)
		assert.Error(t, err, "%q", text)
	}
}

func TestAnAmountThatWasWrittenIsReadAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Min(0).Draw(t, "amount")
		got, err := parseDecimal(formatDecimal(want))
		if err != nil || got != want {
			t.Fatalf("%s: %d, %v", formatDecimal(want), got, err)
		}
	})
}

func TestCosts(t *testing.T) {
	p := &Price{Input: 2_500_000_000, Cached: 1_250_000_000, Output: 10_000_000_000}
	for _, c := range []struct {
		name                  string
		input, cached, output int64
		want                  int64
	}{
		{"a million of each", 1_000_000, 0, 1_000_000, 12_500_000_000},
		{"cached tokens are a part of the input", 1_000_000, 400_000, 0, 2_000_000_000},
		{"cached tokens beyond the input are charged as cached only", 0, 1_000_000, 0, 1_250_000_000},
		{"one token", 1, 0, 0, 2_500},
		{"nothing", 0, 0, 0, 0},
		{"negative counts are nothing", -5, -5, -5, 0},
		{"a sum that does not fit stops at the largest", math.MaxInt64, 0, math.MaxInt64, math.MaxInt64},
	} {
		assert.Equal(t, c.want, p.Cost(c.input, c.cached, c.output), c.name)
	}
	assert.Equal(t, int64(1), (&Price{Input: 1}).Cost(500_000, 0, 0), "half is rounded up")
	assert.Equal(t, int64(0), (&Price{Input: 1}).Cost(499_999, 0, 0))
}

func TestACostIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) int64 { return rapid.Int64Min(0).Draw(t, name) }
		p := &Price{Input: draw("input price"), Cached: draw("cached price"), Output: draw("output price")}
		input, cached, output := draw("input"), draw("cached"), draw("output")
		sum := big.NewInt(500_000)
		for _, pair := range [][2]int64{{max(input-cached, 0), p.Input}, {cached, p.Cached}, {output, p.Output}} {
			sum.Add(sum, new(big.Int).Mul(big.NewInt(pair[0]), big.NewInt(pair[1])))
		}
		sum.Quo(sum, big.NewInt(1_000_000))
		want := int64(math.MaxInt64)
		if sum.IsInt64() {
			want = sum.Int64()
		}
		if got := p.Cost(input, cached, output); got != want {
			t.Fatalf("%d, not %d", got, want)
		}
	})
}

func TestTheEnvironmentIsPutIntoValues(t *testing.T) {
	env := environment("A", "one", "EMPTY", "", "YAML", "{x: [1, 2]}\n- y", "AGAIN", "${env:A}")
	for text, want := range map[string]string{
		"plain": "plain", "${env:A}": "one", "<${env:A}${env:A}>": "<oneone>", "${env:EMPTY}": "", "${env:NONE:-two}": "two", "${env:A:-two}": "one",
		"${env:NONE:-}": "", "$$": "$", "$${env:A}": "${env:A}", "a$": "a$", `^\d+$`: `^\d+$`, "$a": "$a", "$$$": "$$", "${env:YAML}": "{x: [1, 2]}\n- y",
		"${env:AGAIN}": "${env:A}", "": "",
	} {
		got, err := expand(text, env)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"${A}", "${env:A", "${", "${}", "${env:}", "${env:1A}", "${env:A B}", "${env:NONE}", "${file:x}"} {
		_, err := expand(text, env)
		assert.Error(t, err, text)
	}
	_, err := expand("${env:A}", nil)
	assert.Error(t, err)
}

func TestAVariableCannotBringYAMLIn(t *testing.T) {
	p, err := Parse([]byte(stated+"run_id_keys: ['${env:KEYS}']\n"), environment("KEYS", "a, b], tools: [{match: x}"))
	require.NoError(t, err)
	assert.Equal(t, []string{"a, b], tools: [{match: x}"}, p.RunIDKeys)
	assert.Nil(t, p.Tool("x"))
}

func TestAVariableMayHoldANumberAndADuration(t *testing.T) {
	p, err := Parse([]byte(stated+"detection: {repeat: '${env:N}', quiet: '${env:Q:-3s}'}\n"), environment("N", "7"))
	require.NoError(t, err)
	assert.Equal(t, 7, p.Detection.Repeat)
	assert.Equal(t, 3*time.Second, p.Detection.Quiet)
}
