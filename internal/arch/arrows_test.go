package arch

import (
	"slices"
	"strings"
	"testing"
)

// arrows lists, for each package of this module, which packages of this module it may import. A row stands for its
// package and all packages below it that have no row of their own; within one row they may import each other. Imports
// of test files are free.
var arrows = map[string][]string{
	// The core: pure, see purity_test.go.
	"internal/agent":    {},
	"internal/cjson":    {},
	"internal/canon":    {"internal/agent", "internal/cjson"},
	"internal/dialect":  {"internal/agent", "internal/canon", "internal/cjson"},
	"internal/policy":   {"internal/agent", "internal/cjson"},
	"internal/redact":   {"internal/cjson"},
	"internal/assemble": {"internal/agent", "internal/policy"},
	"internal/detect":   {"internal/agent", "internal/policy", "internal/cjson"},

	// Around the core.
	"internal/custody":    {"internal/agent", "internal/store"},
	"internal/label":      {},
	"internal/meter":      {},
	"internal/sweep":      {"internal/agent", "internal/detect", "internal/policy"},
	"internal/policyfile": {"internal/policy", "collector/policy"},
	"internal/protect":    {"internal/policy", "internal/redact"},
	"internal/engine":     {},
	"internal/store":      {"internal/agent", "internal/cjson", "schema"},
	"schema":              {},
	"query":               {"internal/agent", "internal/policy", "query/api"},
	"query/api":           {},

	// The terminal's side of the query API, and programs that send to a collector as anybody's would.
	"internal/cli":           {"query/api"}, // the generated types alone
	"examples/support-agent": {},
	"dashboards/gen":         {"internal/store"}, // the text of its statements

	// Components: adapters between otelcol and the packages above.
	"processor/agentstepprocessor": {
		"internal/agent", "internal/assemble", "internal/canon", "internal/cjson", "internal/detect", "internal/dialect",
		"internal/policy", "internal/policyfile", "internal/protect", "internal/redact", "internal/meter",
	},
	"exporter/agentstoreexporter": {
		"internal/agent", "internal/canon", "internal/store", "extension/agentstorageextension", "internal/meter",
	},
	"extension/agentstorageextension": {"internal/engine", "internal/store", "schema", "internal/meter"},
	"extension/agentqueryextension": {
		"internal/agent", "internal/detect", "internal/policy", "internal/policyfile", "internal/store", "query", "query/api", "extension/agentstorageextension",
		"internal/protect", "internal/redact", "internal/canon", // what is asked for is spelled as it was stored; canon: the names of attributes
	},
	"extension/agentanalyzerextension": {
		"internal/agent", "internal/custody", "internal/detect", "internal/policy", "internal/policyfile", "internal/store", "internal/sweep",
		"internal/label", "internal/meter", "extension/agentstorageextension",
	},
	"extension/filestorageextension": {"internal/meter"},
	"extension/otlpguardextension":   {"internal/meter"},

	// The distribution and the program.
	"collector": {
		"processor/agentstepprocessor", "exporter/agentstoreexporter", "extension/agentstorageextension",
		"extension/agentqueryextension", "extension/agentanalyzerextension", "extension/filestorageextension", "extension/otlpguardextension",
		"collector/config", "collector/listenguard",
	},
	"collector/config":      {},
	"collector/listenguard": {},
	"collector/policy":      {},
	"cmd/steptrail":         {"*"},

	// For tests, and files with tests of their own.
	"alerts":                     {},
	"deploy":                     {},
	"e2e":                        {},
	"internal/arch":              {},
	"internal/contracttest":      {},
	"internal/engine/enginetest": {"internal/engine"},
	"internal/meter/metertest":   {},
	"internal/store/storeseed":   {"internal/agent", "internal/policyfile", "internal/store", "internal/sweep"},
}

// testOnly packages are imported by test files and by each other, never by code that ships.
var testOnly = []string{"alerts", "deploy", "e2e", "internal/arch", "internal/contracttest", "internal/engine/enginetest", "internal/meter/metertest", "internal/store/storeseed"}

func TestEveryImportFollowsAnAllowedArrow(t *testing.T) {
	for _, pkg := range ourPackages(t) {
		from := relative(pkg.ImportPath)
		row, ok := rowOf(from)
		if !ok {
			t.Errorf("package %s stands in no row of the table of arrows: add it, with what it may import", from)
			continue
		}
		for _, imported := range pkg.Imports {
			to, ours := strings.CutPrefix(imported, modulePrefix)
			if !ours {
				continue
			}
			if problem := checkArrow(row, to); problem != "" {
				t.Errorf("%s → %s: %s", from, to, problem)
			}
		}
	}
}

func TestTheTableOfArrowsRefusesWhatItShould(t *testing.T) {
	for name, arrow := range map[string]struct {
		from, to string
		allowed  bool
	}{
		"a core package may not import the store":              {"internal/detect", "internal/store", false},
		"a core package may import the types":                  {"internal/detect", "internal/agent", true},
		"the types may import nothing of ours":                 {"internal/agent", "internal/cjson", false},
		"a package below a row follows the row":                {"internal/engine/chdb", "internal/store", false},
		"packages under one row may import each other":         {"internal/engine", "internal/engine/chdb", true},
		"a package with a row of its own is not its parent's":  {"collector", "collector/policy", false},
		"shipped code may not import a test helper":            {"internal/store", "internal/engine/enginetest", false},
		"even the program may not import a test helper":        {"cmd/steptrail", "internal/contracttest", false},
		"the program may import everything else":               {"cmd/steptrail", "internal/engine", true},
		"the store may not know the components":                {"internal/store", "exporter/agentstoreexporter", false},
		"the query API may not reach past its own interfaces":  {"query", "internal/store", false},
		"the processor may not know the store":                 {"processor/agentstepprocessor", "internal/store", false},
		"the exporter meets the store through the connection":  {"exporter/agentstoreexporter", "extension/agentstorageextension", true},
		"the stream and the sweep do not know each other":      {"processor/agentstepprocessor", "internal/sweep", false},
		"the embedded engine knows nothing of tables or spans": {"internal/engine", "schema", false},
	} {
		t.Run(name, func(t *testing.T) {
			row, ok := rowOf(arrow.from)
			if !ok {
				t.Fatalf("no row for %s", arrow.from)
			}
			if problem := checkArrow(row, arrow.to); (problem == "") != arrow.allowed {
				t.Errorf("allowed %t, want %t (%s)", problem == "", arrow.allowed, problem)
			}
		})
	}
}

// rowOf returns the row that a package belongs to: its own, or that of the nearest folder above it.
func rowOf(pkg string) (row string, ok bool) {
	for row = pkg; ; {
		if _, ok := arrows[row]; ok {
			return row, true
		}
		cut := strings.LastIndexByte(row, '/')
		if cut < 0 {
			return "", false
		}
		row = row[:cut]
	}
}

// checkArrow says what is wrong with an import of the package to by a package that stands in row; "" if nothing is.
func checkArrow(row, to string) string {
	target, ok := rowOf(to)
	switch {
	case !ok:
		return "the imported package stands in no row"
	case target == row:
		return ""
	case slices.Contains(testOnly, target) && !slices.Contains(testOnly, row):
		return "only test files may import it"
	case slices.Contains(arrows[row], "*"), slices.Contains(arrows[row], target):
		return ""
	}
	return "this arrow is not in the table; " + row + " may import: " + strings.Join(arrows[row], ", ")
}
