package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

// What the library does wrong, or other than a server, and must not reach a
// client. README.md lists these traps; trap 2, the signal handlers, is tested
// in package chdb.

// Trap 1: data in the text of a query is run as SQL from the first blank line
// on. Span content is hostile: this would be remote SQL execution.
func TestDataOfAnInsertIsNeverRunAsSQL(t *testing.T) {
	e := enginetest.Start(t)
	const attack = "a\n\nDROP TABLE victim\n\nSELECT 42\n\nINSERT INTO victim VALUES ('b')"
	rows := strings.Split(attack, "\n")
	var tsv, json, rowBinary strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&tsv, "%s\n", row)
		fmt.Fprintf(&json, "{\"s\": %q}\n\n", row)
	}
	rowBinary.WriteByte(byte(len(attack)))
	rowBinary.WriteString(attack)
	native := "\x01\x01\x01s\x06String" + rowBinary.String()

	tests := []struct {
		name, format, data string
		want               string // what is stored; empty: an error, and nothing
	}{
		{"TSV, whose rows the blank lines are", "TSV", tsv.String(), strings.Join(rows, "|")},
		{"JSON with blank lines between rows", "JSONEachRow", json.String(), strings.Join(rows, "|")},
		{"RowBinary", "RowBinary", rowBinary.String(), attack},
		{"Native", "Native", native, attack},
		{"Native, broken", "Native", "\x01\x01\x01s\x06String" + "\xff\x01a\n\nDROP TABLE victim\n\n", ""},
		{"Values", "Values", "('a')\n\nDROP TABLE victim", ""},
		{"Values with text behind a semicolon, which is ignored", "Values", "('a');\n\nDROP TABLE victim", "a"},
	}
	for _, tt := range tests {
		for _, place := range []string{"data in the body", "data behind the statement", "statement and data behind the URL's"} {
			t.Run(tt.name+"; "+place, func(t *testing.T) {
				query(t, e, "DROP TABLE IF EXISTS target")
				query(t, e, "CREATE TABLE target (s String) ENGINE = MergeTree ORDER BY tuple()")
				query(t, e, "CREATE TABLE IF NOT EXISTS victim (s String) ENGINE = MergeTree ORDER BY tuple()")
				statement := "INSERT INTO target (s) FORMAT " + tt.format
				values, body := url.Values{"query": {statement}}, tt.data
				switch place {
				case "data behind the statement":
					values, body = url.Values{}, statement+"\n"+tt.data
				case "statement and data behind the URL's":
					cut := len(tt.data) / 2
					values, body = url.Values{"query": {statement + "\n" + tt.data[:cut]}}, tt.data[cut:]
				}
				got := post(t, e, values, strings.NewReader(body), nil)
				if tt.want == "" {
					assert.Equal(t, http.StatusInternalServerError, got.status, got.body)
				} else {
					assert.Equal(t, answer{status: http.StatusOK}, got)
				}
				assert.Equal(t, tt.want, query(t, e, "SELECT arrayStringConcat(groupArray(s), '|') FROM target FORMAT RawBLOB"))
				assert.Equal(t, "0\n", query(t, e, "SELECT count() FROM victim"))
			})
		}
	}
}

// Random bytes hold blank lines too: all rows are stored, and only those.
func TestRandomBytesAreStoredToTheLast(t *testing.T) {
	e := enginetest.Start(t)
	e.Exec("CREATE TABLE t (v FixedString(3)) ENGINE = MergeTree ORDER BY tuple()")
	random := rand.NewChaCha8([32]byte{1})
	data := make([]byte, 3_000_000)
	_, _ = random.Read(data)
	got := post(t, e, url.Values{"query": {"INSERT INTO t FORMAT RowBinary"}}, bytes.NewReader(data), nil)
	require.Equal(t, answer{status: http.StatusOK}, got)
	assert.Equal(t, "1000000\n", query(t, e, "SELECT count() FROM t"))
}

// Trap 3: in a fresh directory a synchronous DROP waited for a task that never
// started.
func TestDropSyncReturnsInAFreshDirectory(t *testing.T) {
	e := enginetest.StartOwn(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	conn := e.Conn()
	require.NoError(t, conn.Exec(ctx, "CREATE TABLE t (a Int8) ENGINE = MergeTree ORDER BY a"))
	require.NoError(t, conn.Exec(ctx, "INSERT INTO t VALUES (1)"))
	require.NoError(t, conn.Exec(ctx, "DROP TABLE t SYNC"))
}

// Trap 4: a synchronous KILL never returns.
func TestKillIsAsynchronousOnly(t *testing.T) {
	e := enginetest.Start(t)
	refusal(t, e, "48", "KILL QUERY WHERE 1 SYNC")

	const victim = "SELECT count() FROM numbers(100000000000001)"
	failed := make(chan error, 1)
	go func() { // ends with its statement, which is killed below
		var n uint64
		failed <- e.Conn().QueryRow(context.WithoutCancel(t.Context()), victim).Scan(&n)
	}()
	for deadline := time.After(limit); ; {
		query(t, e, "KILL QUERY WHERE query = '"+victim+"' ASYNC")
		select {
		case err := <-failed:
			assertCode(t, 394, err)
			return
		case <-deadline:
			t.Fatal("the statement was not killed")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Trap 5: a stream that was not read to its end spoiled its connection.
func TestAnAbandonedResultHarmsNoOtherStatement(t *testing.T) {
	e := enginetest.StartOwn(t, func(c *engineConfig) { c.MaxConcurrent = 1 })
	conn := e.Conn()
	pid := e.PID()
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := conn.Query(ctx, "SELECT number, repeat('x', 100) FROM numbers(100000000)")
		require.NoError(t, err)
		require.True(t, rows.Next())
		cancel()
		for rows.Next() {
		}
		_, _ = rows.Err(), rows.Close()

		assert.Equal(t, "1\n", query(t, e, "SELECT 1"))
		query(t, e, "CREATE OR REPLACE TABLE t (a Int8) ENGINE = MergeTree ORDER BY a")
		query(t, e, "INSERT INTO t VALUES (1)")
		assert.Equal(t, "1\n", query(t, e, "SELECT count() FROM t"))
	}
	assert.Equal(t, pid, e.PID(), "the engine has not crashed")
}

// Trap 6: one call runs all statements in its text.
func TestSeveralStatementsAreRefused(t *testing.T) {
	e := enginetest.Start(t)
	e.Exec("CREATE TABLE victim (a Int8) ENGINE = MergeTree ORDER BY a")
	refusal(t, e, "62", "SELECT 1; SELECT 2")
	refusal(t, e, "62", "SELECT 1; DROP TABLE victim")
	refusal(t, e, "62", "SELECT 'a\\\\'; DROP TABLE victim -- '")
	refusal(t, e, "62", "INSERT INTO victim VALUES (1)\n\nDROP TABLE victim")
	assert.Equal(t, "0\n", query(t, e, "SELECT count() FROM victim;"))
	_, err := e.DB().ExecContext(t.Context(), "SELECT 1; DROP TABLE victim")
	assertCode(t, 62, err)
}

// Trap 7: SET, USE and temporary tables stuck to the connection, and readonly
// could not be undone.
func TestNothingSticksToAConnection(t *testing.T) {
	e := enginetest.StartOwn(t, func(c *engineConfig) { c.MaxConcurrent = 1 })
	const state = "SELECT currentDatabase(), getSetting('max_threads') = 7, getSetting('readonly')"
	clean := e.Database + "\tfalse\t0\n"
	if got := query(t, e, state); got != clean {
		clean = strings.Replace(clean, "false", "0", 1) // as 26.5 prints it
		require.Equal(t, clean, got)
	}
	changes := map[string]func(){
		"SET":             func() { query(t, e, "SET max_threads = 7") },
		"SET readonly":    func() { query(t, e, "SET readonly = 1") },
		"USE":             func() { query(t, e, "USE system") },
		"a temporary one": func() { query(t, e, "CREATE TEMPORARY TABLE temporary_table (a Int8)") },
		"a database in the URL": func() {
			post(t, e, url.Values{"database": {"system"}}, strings.NewReader("SELECT 1"), nil)
		},
		"settings in the URL": func() {
			post(t, e, url.Values{"max_threads": {"7"}, "readonly": {"1"}}, strings.NewReader("SELECT 1"), nil)
		},
		"settings in the URL of a statement that fails": func() {
			post(t, e, url.Values{"max_threads": {"7"}, "readonly": {"1"}}, strings.NewReader("SELECT nothing"), nil)
		},
		"a setting that fails behind one that holds": func() {
			post(t, e, url.Values{"max_threads": {"7"}, "max_block_size": {"x"}}, strings.NewReader("SELECT 1"), nil)
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			change()
			assert.Equal(t, clean, query(t, e, state))
			refusal(t, e, "60", "SELECT * FROM temporary_table")
			query(t, e, "CREATE OR REPLACE TABLE t (a Int8) ENGINE = Memory")
		})
	}
}

// Names from the URL become SQL (SET, USE): they cannot break out of it.
func TestNamesInTheURLAreNoSQL(t *testing.T) {
	e := enginetest.Start(t)
	e.Exec("CREATE TABLE victim (a Int8) ENGINE = MergeTree ORDER BY a")
	send := func(values url.Values) string { return post(t, e, values, strings.NewReader("SELECT 1"), nil).code }
	assert.Equal(t, "81", send(url.Values{"database": {"x`; DROP TABLE " + e.Database + ".victim; --"}}))
	assert.Equal(t, "115", send(url.Values{"max_threads = 1; DROP TABLE victim; SET max_threads": {"1"}}))
	assert.Equal(t, "36", send(url.Values{"param_a'b": {"1"}}))
	assert.NotEmpty(t, send(url.Values{"max_threads": {"1'; DROP TABLE " + e.Database + ".victim; --"}}))
	assert.NotEmpty(t, send(url.Values{"max_threads": {"\\'; DROP TABLE " + e.Database + ".victim; --"}}))
	assert.NotEmpty(t, send(url.Values{"readonly": {"1'; DROP TABLE " + e.Database + ".victim; --"}}))
	assert.Equal(t, "0\n", query(t, e, "SELECT count() FROM victim"))
}

// Trap 8: a token has no effect unless the table has a window.
func TestAnInsertWithTheSameTokenIsStoredOnce(t *testing.T) {
	e := enginetest.Start(t)
	conn := e.Conn()
	insert := func(table, token string) {
		ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": token}))
		batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+table)
		require.NoError(t, err)
		defer func() { _ = batch.Close() }()
		require.NoError(t, batch.Append(int8(1)))
		require.NoError(t, batch.Send())
	}
	e.Exec("CREATE TABLE windowed (a Int8) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 1000",
		"CREATE TABLE plain (a Int8) ENGINE = MergeTree ORDER BY a")
	for _, token := range []string{"x", "x", "y", "x"} {
		insert("windowed", token)
		insert("plain", token)
	}
	assert.Equal(t, "2\n", query(t, e, "SELECT count() FROM windowed"))
	assert.Equal(t, "4\n", query(t, e, "SELECT count() FROM plain"))
}

// Trap 9: the engine opens every file its process can, so its door is as good
// as a shell.
func TestTheEngineOpensNoFilesForItsClients(t *testing.T) {
	e := enginetest.Start(t)
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("secret\n"), 0o600))
	out := filepath.Join(dir, "out.txt")
	for statement, code := range map[string]string{
		"SELECT * FROM file('" + secret + "', LineAsString)":                            "497",
		"SELECT * FROM default.`" + secret + "`":                                        "497",
		"SELECT file('" + secret + "')":                                                 "497",
		"SELECT 1 INTO OUTFILE '" + out + "' TRUNCATE":                                  "358",
		"INSERT INTO FUNCTION file('" + out + "', TSV, 'a Int8') VALUES (1)":            "497",
		"CREATE TABLE f (a String) ENGINE = File(TSV, '" + secret + "')":                "497",
		"SELECT * FROM url('http://127.0.0.1:1/', TSV, 'a String')":                     "497",
		"CREATE TABLE o (a String) ENGINE = MergeTree ORDER BY a; SELECT * FROM o":      "62",
		"INSERT INTO t FROM INFILE '" + secret + "' FORMAT TSV":                         "497",
		"SELECT * FROM executable('/bin/sh', TSV, 'a String')":                          "497",
		"BACKUP DATABASE " + e.Database + " TO File('" + filepath.Join(dir, "b") + "')": "497",
	} {
		refusal(t, e, code, statement)
	}
	for _, statement := range []string{
		"SELECT * FROM `config.xml`",                                 // a relative name leads to an empty folder
		"SELECT * FROM default.file('" + secret + "', LineAsString)", // a qualified name is no function
		"SELECT default.file('" + secret + "')",
		"CREATE TABLE f (a String) ENGINE = default.File(TSV, '" + secret + "')",
	} {
		got := post(t, e, url.Values{"database": {"default"}}, strings.NewReader(statement), nil)
		assert.Equal(t, http.StatusInternalServerError, got.status, "%s: %s", statement, got.body)
		assert.NotContains(t, got.body, "secret\n")
	}
	assert.NoFileExists(t, out)
}

// Trap 10: the default bound is 90 % of the machine.
func TestAStatementThatNeedsTooMuchMemoryFailsAndTheEngineLives(t *testing.T) {
	const bound = 512 << 20
	e := enginetest.StartOwn(t, func(c *engineConfig) { c.MaxMemory = bound })
	pid := e.PID()
	before := peakMemory(t, pid)
	assert.Equal(t, fmt.Sprintln(bound), query(t, e, "SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage'"))
	refusal(t, e, "241", "SELECT arrayFold((acc, x) -> acc + x, range(10000000), toUInt64(0))")
	refusal(t, e, "241", "SELECT groupArray(repeat('x', 1000)) FROM numbers(10000000)")
	assert.Equal(t, "1\n", query(t, e, "SELECT 1"))
	assert.Equal(t, pid, e.PID())
	grown := peakMemory(t, pid) - before
	t.Logf("bound %d MiB, the process had %d MiB before and grew by %d MiB", bound>>20, before>>20, grown>>20)
	// What the process had is mostly pages of the library, which the bound does not count, and neither does it count pages of
	// the library that the statements touch. Unbounded, the second statement alone takes 10 GB.
	assert.Less(t, grown, int64(3*bound))
}

// The data of an INSERT is bounded, and an INSERT whose data breaks off is not
// stored.
func TestABodyThatIsTooLargeOrBreaksOffIsNotStored(t *testing.T) {
	e := enginetest.StartOwn(t, func(c *engineConfig) { c.MaxInsertBytes = 1 << 20; c.MaxQueryBytes = 1 << 16 })
	e.Exec("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
	insert := url.Values{"query": {"INSERT INTO t FORMAT RowBinary"}}
	values := func(bytes int) []byte {
		var b []byte
		for i := range bytes / 8 {
			b = binary.LittleEndian.AppendUint64(b, uint64(i))
		}
		return b
	}
	assert.Equal(t, "307", post(t, e, insert, bytes.NewReader(values(2<<20)), nil).code)
	assert.Equal(t, "307", post(t, e, url.Values{}, strings.NewReader("SELECT '"+strings.Repeat("x", 1<<17)+"'"), nil).code)
	assert.Equal(t, "33", post(t, e, insert, bytes.NewReader(values(1024)[:1020]), nil).code, "half a value")
	compressed := url.Values{"query": insert["query"], "decompress": {"1"}}
	assert.Equal(t, "33", post(t, e, compressed, strings.NewReader("not compressed at all, but long enough for a header"), nil).code)
	assert.Equal(t, "33", post(t, e, insert, strings.NewReader("no gzip"), http.Header{"Content-Encoding": {"gzip"}}).code)
	assert.Equal(t, "0\n", query(t, e, "SELECT count() FROM t"))
	assert.Equal(t, http.StatusOK, post(t, e, insert, bytes.NewReader(values(1<<20)), nil).status)
	assert.Equal(t, "131072\n", query(t, e, "SELECT count() FROM t"))
}
