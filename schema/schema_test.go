package schema

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMigrationsAreATableAndItsFrontSafeToRunAgain(t *testing.T) {
	for name, text := range readAll(t, "") {
		body := statement(text)
		require.Equal(t, 2, strings.Count(body, ";"), "%s: a table, its front", name)
		require.Equal(t, 2, strings.Count(body, "CREATE TABLE IF NOT EXISTS "), name)
		require.NotContains(t, body, "${", "%s: a variable is left", name)
		require.NotContains(t, body, "Replicated", name)
		table := tableOf(t, name)
		require.Contains(t, body, "CREATE TABLE IF NOT EXISTS "+table+" \n(", name)
		require.Contains(t, body, "CREATE TABLE IF NOT EXISTS "+table+"  AS "+table+"\nENGINE = Distributed('default', 'db', '"+table+"', ", name)
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

func TestAClusterHasReplicatedTablesBehindFronts(t *testing.T) {
	for name, text := range readAll(t, "main") {
		body := statement(text)
		table := tableOf(t, name)
		require.Contains(t, body, "CREATE TABLE IF NOT EXISTS "+table+"_local ON CLUSTER `main`\n(", name)
		require.Contains(t, body, "ENGINE = Replicated", name)
		require.Contains(t, body, "CREATE TABLE IF NOT EXISTS "+table+" ON CLUSTER `main` AS "+table+"_local\n"+
			"ENGINE = Distributed('main', 'db', '"+table+"_local', cityHash64(tenant, ", name)
		require.NotContains(t, body, "${", "%s: a variable is left", name)
	}
}

// A row that replaces another must come to the same shard: what the shard is
// chosen by never changes while the sort key stays the same.
func TestARowIsReplacedOnItsShard(t *testing.T) {
	shard := regexp.MustCompile(`cityHash64\(tenant, (\w+)\)`)
	key := regexp.MustCompile(`ORDER BY \(([^)]+)\)\n`)
	for name, text := range readAll(t, "main") {
		column := shard.FindStringSubmatch(text)[1]
		if !strings.Contains(text, "ReplacingMergeTree") {
			continue
		}
		if table := tableOf(t, name); table == "acts" || table == "log_content" {
			require.Equal(t, "unit", column, "%s: a span's unit is a function of the span, which stands in the key", name)
			continue
		}
		require.Contains(t, strings.Split(key.FindAllStringSubmatch(text, -1)[0][1], ", "), column, name)
	}
}

func TestTheTableOnAServerIsNamed(t *testing.T) {
	require.Equal(t, "steps", Local("steps", ""))
	require.Equal(t, "steps_local", Local("steps", "main"))
	require.Equal(t, "steps", Front("steps_local", "main"))
	require.Equal(t, "steps", Front("steps", ""))
}

func TestANameThatIsNoNameIsRefused(t *testing.T) {
	for _, name := range []string{"a b", "x`; DROP TABLE steps", "1st", strings.Repeat("a", 64)} {
		_, err := Migrations("db", name)
		require.ErrorContains(t, err, "cluster:", name)
		_, err = Migrations(name, "")
		require.ErrorContains(t, err, "database:", name)
	}
}

func readAll(t *testing.T, cluster string) map[string]string {
	t.Helper()
	fsys, err := Migrations("db", cluster)
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

// tableOf is the table that a migration is named after.
func tableOf(t *testing.T, file string) string {
	t.Helper()
	_, table, ok := strings.Cut(strings.TrimSuffix(file, ".sql"), "_")
	require.True(t, ok, file)
	return table
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
