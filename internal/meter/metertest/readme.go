// Package metertest holds the table of metrics in a README to its list.
package metertest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Marks of the part of a README that is made from the list.
const (
	begin = "<!-- metrics: written by the tests with STEPTRAIL_UPDATE=1 -->\n"
	end   = "<!-- /metrics -->"
)

// Readme fails unless the marked part of README.md in the current folder is the
// table. With STEPTRAIL_UPDATE=1 it writes the table there.
func Readme(t *testing.T, table string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "README.md has no line %s", begin)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "README.md has no line %s", end)
	want := before + begin + table + end + after
	if os.Getenv("STEPTRAIL_UPDATE") == "1" {
		require.NoError(t, os.WriteFile("README.md", []byte(want), 0o644)) //nolint:gosec // a file of the repository
		return
	}
	require.Equal(t, want, string(text), "the table is stale: run this test with STEPTRAIL_UPDATE=1")
}
