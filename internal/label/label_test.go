package label_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steptrail/steptrail/internal/label"
)

func TestTheFirstValuesAreKeptAndTheRestIsCounted(t *testing.T) {
	v := label.NewValues(2)
	for _, want := range []struct{ in, out string }{
		{"a", "a"}, {"b", "b"}, {"c", label.Other}, {"a", "a"}, {"c", label.Other}, {"", ""}, {"b", "b"}, {label.Other, label.Other},
	} {
		require.Equal(t, want.out, v.Of(want.in), want.in)
	}
	require.EqualValues(t, 2, v.Others(), "the name _other itself is no value beyond the limit")
}

func TestAValueIsCleanedAndCut(t *testing.T) {
	for in, want := range map[string]string{
		"issue_refund":             "issue_refund",
		"two\nlines\x00\x1b[31m":   "two_lines__[31m",
		"bad \xff\xfe bytes":       "bad __ bytes",
		"überweisung":              "überweisung",
		"right\u202eleft":          "right_left",
		"\ufffd":                   "_",
		strings.Repeat("é", 60):    strings.Repeat("é", 50),
		strings.Repeat("x", 1<<16): strings.Repeat("x", label.MaxBytes),
	} {
		require.Equal(t, want, label.Clean(in))
	}
}

// Whatever comes, in whatever order: few values, each printable and short, and
// the same for the same name.
func TestHostileNamesNeverExplodeALabel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 5).Draw(t, "limit")
		v := label.NewValues(limit)
		given, seen := map[string]string{}, map[string]bool{}
		for _, s := range rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))).Draw(t, "names") {
			got := v.Of(s)
			if before, ok := given[s]; ok && before != got {
				t.Fatalf("%q was %q and is %q", s, before, got)
			}
			given[s], seen[got] = got, true
			if !utf8.ValidString(got) || len(got) > label.MaxBytes || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Fatalf("%q gave %q", s, got)
			}
		}
		delete(seen, "")
		delete(seen, label.Other)
		if len(seen) > limit {
			t.Fatalf("%d values, %d are allowed", len(seen), limit)
		}
	})
}

func TestManyMayAskAtOnce(t *testing.T) {
	v := label.NewValues(10)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				v.Of(fmt.Sprint("tool-", i))
			}
		})
	}
	wg.Wait()
	kept := 0
	for i := range 1000 {
		if v.Of(fmt.Sprint("tool-", i)) != label.Other {
			kept++
		}
	}
	require.Equal(t, 10, kept)
}
