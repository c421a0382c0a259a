package store

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/schema"
)

// There is no cluster to run these on: the engine says whether it can read them.
func TestEveryStatementOfAClusterParses(t *testing.T) {
	e := enginetest.Start(t)
	fsys, err := schema.Migrations(DefaultDatabase, "main")
	require.NoError(t, err)
	names, err := fs.Glob(fsys, "*.sql")
	require.NoError(t, err)
	statements := []string{createDatabaseStatement(DefaultDatabase, "main"), clusterVersions{Store: versions(t), cluster: "main"}.statement()}
	comment := regexp.MustCompile(`(?m)^--.*\n`)
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		require.NoError(t, err)
		for one := range strings.SplitSeq(comment.ReplaceAllString(string(text), ""), ";\n") {
			if one = strings.TrimSpace(one); one != "" {
				statements = append(statements, one)
			}
		}
	}
	require.Len(t, statements, 2+2*len(names))
	for _, one := range statements {
		require.Contains(t, one, " ON CLUSTER `main`")
		e.Exec("EXPLAIN AST " + one)
	}
}

func versions(t *testing.T) database.Store {
	t.Helper()
	s, err := database.NewStore(database.DialectClickHouse, goose.DefaultTablename)
	require.NoError(t, err)
	return s
}

func TestASingleServerHasNoFronts(t *testing.T) {
	s, e := openEngine(t)
	require.NoError(t, s.Migrate(t.Context()), "again")
	var engines []string
	rows, err := e.DB().QueryContext(t.Context(), "SELECT DISTINCT engine FROM system.tables WHERE database = currentDatabase() AND name != 'goose_db_version' ORDER BY engine")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var engine string
		require.NoError(t, rows.Scan(&engine))
		engines = append(engines, engine)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []string{"MergeTree", "ReplacingMergeTree"}, engines)
}

// Whatever the store alters, it alters behind the front, and the engine reads
// the statement so.
func TestEveryChangeOfATableGoesBehindItsFront(t *testing.T) {
	e := enginetest.Start(t)
	entries, err := sqlFiles.ReadDir("sql")
	require.NoError(t, err)
	table := dataTables[0]
	seen := 0
	for _, entry := range entries {
		sql := load(strings.TrimSuffix(entry.Name(), ".sql"))
		if !strings.Contains(string(sql), "ALTER TABLE ") {
			continue
		}
		seen++
		text := onCluster(table.where(sql, "1"), "main")
		require.Regexp(t, "(?m)^ALTER TABLE \\w+_local ON CLUSTER `main` ", text, entry.Name())
		require.Equal(t, table.where(sql, "1"), onCluster(table.where(sql, "1"), ""))
		text = regexp.MustCompile(`\{\w+:U?(String|Int64)\}`).ReplaceAllString(text, "'x'")
		e.Exec("EXPLAIN AST " + regexp.MustCompile(`\{\w+:Array\(String\)\}`).ReplaceAllString(text, "['x']"))
	}
	require.Positive(t, seen)
	// Nothing else of a server is asked for but by a mark.
	for _, entry := range entries {
		require.NotContains(t, string(load(strings.TrimSuffix(entry.Name(), ".sql"))), "system.", entry.Name())
	}
	for _, sql := range []statement{sqlInactiveParts, sqlRetentionParts} {
		require.Contains(t, partsOf(sql, "", allReplicas), "FROM system.parts")
		require.Contains(t, partsOf(sql, "main", allReplicas), "FROM clusterAllReplicas('main', system.parts)")
	}
}
