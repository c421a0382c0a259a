package policy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the table of keys into README.md")

// table is the table of keys as the README shows it.
func table() string {
	var b strings.Builder
	b.WriteString("| key | type | default | limits | meaning |\n|---|---|---|---|---|\n")
	for i := range keys {
		k := &keys[i]
		def := "—"
		switch {
		case k.required:
			def = "**required**"
		case k.def != "":
			def = "`" + k.def + "`"
		}
		path := strings.ReplaceAll(k.path, ".*", ".<tenant>")
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", path, k.kind, def, k.limits(), k.meaning)
	}
	return b.String()
}

func TestTheTableOfTheReadmeIsThatOfTheCode(t *testing.T) {
	const begin, end = "<!-- keys: written by go test ./internal/policy -update -->\n", "<!-- end of keys -->"
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(data), begin)
	require.True(t, ok, "README.md has lost %q", begin)
	old, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "README.md has lost %q", end)
	if *update {
		require.NoError(t, os.WriteFile("README.md", []byte(before+begin+table()+end+after), 0o644))
		return
	}
	assert.Equal(t, table(), old, "run go test ./internal/policy -update")
}

// TestTheTableOfKeysIsWhatTheParserReads: a key that the parser does not read would be a promise that nobody keeps.
func TestTheTableOfKeysIsWhatTheParserReads(t *testing.T) {
	for _, k := range keys {
		if k.kind == kindMapping || k.kind == kindList || k.path == "version" || k.path == "redaction.key" {
			continue
		}
		_, ok := changes[k.path]
		assert.True(t, ok, "no test shows that %s has an effect", k.path)
	}
	for _, k := range keys {
		if k.def == "" {
			continue
		}
		switch k.kind {
		case kindInteger:
			_, err := parseInteger(&k, k.def)
			assert.NoError(t, err, k.path)
		case kindDuration:
			_, err := parseTerm(&k, k.def)
			assert.NoError(t, err, k.path)
		case kindChoice, kindGlob:
			assert.NoError(t, checkText(&k, k.def), k.path)
		}
	}
	assert.Equal(t, DefaultAttempts, parse(t, stated+"limits: [{}]\n").Limits("", "").Attempts)
}
