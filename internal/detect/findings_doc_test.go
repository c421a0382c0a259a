package detect_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/detect"
)

// findingRow is a row of the table of docs/findings.md.
type findingRow struct {
	section    string
	severities []string
	keys       []string // of the policy
}

var quoted = regexp.MustCompile("`([^`]+)`")

// The table of docs/findings.md names every kind, with the severities that the
// scenarios show, and keys that the policy has.
func TestTheTableOfFindingsIsThatOfTheDetectors(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "findings.md"))
	require.NoError(t, err)
	policyKeys, err := os.ReadFile(filepath.Join("..", "policy", "README.md"))
	require.NoError(t, err)
	kinds, rows := findingsTable(t, string(doc))
	require.Equal(t, detect.Kinds(), kinds)

	shown := shownSeverities(t)
	shown["rule"] = map[string]bool{"info": true, "warning": true, "critical": true} // as the policy states
	for _, kind := range kinds {
		row := rows[kind]
		for _, severity := range slices.Sorted(maps.Keys(shown[kind])) {
			require.Contains(t, row.severities, severity, "%s is raised as %s", kind, severity)
		}
		for _, severity := range row.severities {
			assert.True(t, shown[kind][severity], "no scenario raises %s as %s", kind, severity)
		}
		require.True(t, hasSection(string(doc), row.section), "%s has no section #%s", kind, row.section)
		for _, key := range row.keys {
			require.Contains(t, string(policyKeys), "\n| `"+key+"` |", "of %s", kind)
		}
	}
}

func findingsTable(t *testing.T, doc string) (kinds []string, rows map[string]findingRow) {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "<!-- kinds: ")
	require.True(t, ok)
	table, _, ok := strings.Cut(rest, "<!-- end of kinds -->")
	require.True(t, ok)
	rows = map[string]findingRow{}
	for line := range strings.Lines(table) {
		cell := strings.Split(line, " | ")
		name, section, linked := strings.Cut(cell[0], "`](#")
		if !linked {
			continue
		}
		require.Len(t, cell, 4, line)
		kind := strings.TrimPrefix(name, "| [`")
		row := findingRow{section: strings.TrimSuffix(section, ")"), severities: strings.Split(cell[1], ", ")}
		for _, m := range quoted.FindAllStringSubmatch(cell[3], -1) {
			row.keys = append(row.keys, m[1])
		}
		kinds, rows[kind] = append(kinds, kind), row
	}
	return kinds, rows
}

// hasSection reports whether a heading has the anchor that GitHub makes of it.
func hasSection(doc, anchor string) bool {
	strip := strings.NewReplacer(".", "", ",", "", "&lt;", "", "&gt;", "", " ", "-")
	for line := range strings.Lines(doc) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") &&
			strip.Replace(strings.ToLower(strings.TrimSpace(title))) == anchor {
			return true
		}
	}
	return false
}

// shownSeverities gives what the scenarios' findings are raised as, by kind.
func shownSeverities(t *testing.T) map[string]map[string]bool {
	t.Helper()
	shown := map[string]map[string]bool{}
	forEachScenario(t, func(_ *testing.T, s *scenario) {
		for _, w := range s.Expect.Findings {
			if w.Severity == "" {
				continue
			}
			if shown[w.Kind] == nil {
				shown[w.Kind] = map[string]bool{}
			}
			shown[w.Kind][w.Severity] = true
		}
	})
	return shown
}
