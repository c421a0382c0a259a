package peerbench

import (
	"os"
	"strings"
	"testing"
)

// TestVersions shows that both sides are built from what the product is built from.
func TestVersions(t *testing.T) {
	root := versions(t, "../../../go.mod")
	for module, version := range versions(t, "go.mod") {
		if want, ok := root[module]; ok && version != want {
			t.Errorf("%s is %s here and %s in the product", module, version, want)
		}
	}
}

// versions reads the required modules of a go.mod.
func versions(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && strings.HasPrefix(fields[1], "v") {
			all[fields[0]] = fields[1]
		}
	}
	if len(all) < 10 {
		t.Fatalf("%d modules in %s", len(all), path)
	}
	return all
}
