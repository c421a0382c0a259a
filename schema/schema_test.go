package schema

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMigrationsAreOneStatementSafeToRunAgain(t *testing.T) {
	for name, text := range readAll(t, "") {
		body := statement(text)
		require.Equal(t, 1, strings.Count(body, ";"), "%s: one statement", name)
		require.Contains(t, body, "IF NOT EXISTS", name)
		require.NotContains(t, body, "${", "%s: a variable is left", name)
		require.NotContains(t, body, "Replicated", name)
	}
}

func TestEveryTableWithATimeLimitExpiresByWholeParts(t *testing.T) {
	for name, text := range readAll(t, "") {
		body := statement(text)
		require.Contains(t, body, "non_replicated_deduplication_window", name)
		if !strings.Contains(body, "expires_at ") {
			continue
		}
		require.Contains(t, body, "PARTITION BY toMonday(expires_at)", name)
		require.Contains(t, body, "TTL expires_at", name)
		require.Contains(t, body, "ttl_only_drop_parts = 1", name)
	}
}

func TestAClusterMakesTablesReplicated(t *testing.T) {
	for name, text := range readAll(t, "main") {
		body := statement(text)
		require.Contains(t, body, "ON CLUSTER `main`", name)
		require.Contains(t, body, "ENGINE = Replicated", name)
	}
}

func TestAClusterNameThatIsNoNameIsRefused(t *testing.T) {
	for _, name := range []string{"a b", "x`; DROP TABLE steps", "1st", strings.Repeat("a", 64)} {
		_, err := Migrations(name)
		require.ErrorContains(t, err, "cluster:", name)
	}
}

func readAll(t *testing.T, cluster string) map[string]string {
	t.Helper()
	fsys, err := Migrations(cluster)
	require.NoError(t, err)
	names, err := fs.Glob(fsys, "*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	out := map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		require.NoError(t, err)
		out[name] = string(text)
	}
	return out
}

// statement is the text without its comments.
func statement(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
