package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

// compressions are those of clickhouse-go that have to work.
var compressions = map[string]*clickhouse.Compression{
	"none": {Method: clickhouse.CompressionNone},
	"lz4":  {Method: clickhouse.CompressionLZ4},
	"zstd": {Method: clickhouse.CompressionZSTD, Level: 1},
	"gzip": {Method: clickhouse.CompressionGZIP, Level: 1},
}

// open is a client with options of the test's own.
func open(t *testing.T, e *enginetest.Engine, change func(*clickhouse.Options)) driver.Conn {
	t.Helper()
	options := e.Options()
	change(options)
	conn, err := clickhouse.Open(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

// row has a column of each kind that the store uses, and more.
type row struct {
	N      uint32            `ch:"n"`
	Text   string            `ch:"text"`
	Low    string            `ch:"low"`
	Attrs  map[string]string `ch:"attrs"`
	At     time.Time         `ch:"at"`
	ID     string            `ch:"id"`
	IDs    []string          `ch:"ids"`
	Maybe  *string           `ch:"maybe"`
	UUID   uuid.UUID         `ch:"uuid"`
	Tags   []string          `ch:"tags"`
	Amount float64           `ch:"amount"`
	Flag   bool              `ch:"flag"`
}

const rowTable = `CREATE TABLE rows (
	n UInt32, text String, low LowCardinality(String), attrs Map(LowCardinality(String), String), at DateTime64(9),
	id FixedString(16), ids Array(FixedString(16)), maybe Nullable(String), uuid UUID, tags Array(LowCardinality(String)),
	amount Float64, flag Bool) ENGINE = MergeTree ORDER BY n`

// hostileRows hold what must pass through unchanged: blank lines, semicolons,
// quotes, NUL, bytes that are no UTF-8, and SQL.
func hostileRows() []row {
	null, text := (*string)(nil), "a\n\nDROP TABLE rows;"
	bytes16 := []string{
		"\x00\n\n;'\"`\\\xff\xfe\t\r\n\n;\x00",
		"\n\nSELECT 42;\n\n\n\n",
		strings.Repeat("\x00", 16),
		strings.Repeat("\xff", 16),
	}
	rows := make([]row, 0, 8)
	for i, id := range bytes16 {
		rows = append(rows,
			row{
				N: uint32(2 * i), Text: "a\n\nDROP TABLE rows;\n" + id, Low: "l'\n\n;", Attrs: map[string]string{"k\n\n": "v;\x00", "": "\xff"},
				At: time.Date(2026, 11, 29, 1, 2, 3, 123456789, time.UTC), ID: id, IDs: bytes16, Maybe: &text,
				UUID: uuid.MustParse("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), Tags: []string{"\n\n", "a"}, Amount: 0.1, Flag: true,
			},
			row{
				N: uint32(2*i + 1), Text: "", Attrs: map[string]string{}, At: time.Unix(0, int64(i)).UTC(), ID: id, IDs: []string{},
				Maybe: null, Tags: []string{},
			})
	}
	return rows
}

func TestEachCompressionPassesHostileRowsThroughUnchanged(t *testing.T) {
	e := enginetest.Start(t)
	for name, compression := range compressions {
		t.Run(name, func(t *testing.T) {
			conn := open(t, e, func(o *clickhouse.Options) { o.Compression = compression })
			require.NoError(t, conn.Exec(t.Context(), "DROP TABLE IF EXISTS rows"))
			require.NoError(t, conn.Exec(t.Context(), rowTable))
			want := hostileRows()
			batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO rows")
			require.NoError(t, err)
			defer func() { _ = batch.Close() }()
			for i := range want {
				require.NoError(t, batch.AppendStruct(&want[i]))
			}
			require.NoError(t, batch.Send())

			var got []row
			require.NoError(t, conn.Select(t.Context(), &got, "SELECT * FROM rows ORDER BY n"))
			assert.Equal(t, want, got)
		})
	}
}

func TestQueryRow(t *testing.T) {
	conn := enginetest.Start(t).Conn()
	require.NoError(t, conn.Ping(t.Context()))

	var n uint64
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT sum(number) FROM numbers(10) WHERE number > ?", 3).Scan(&n))
	assert.Equal(t, uint64(39), n)

	err := conn.QueryRow(t.Context(), "SELECT number FROM numbers(10) WHERE number > 10").Scan(&n)
	require.ErrorIs(t, err, sql.ErrNoRows)

	version, err := conn.ServerVersion()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, version.Version.Major, uint64(26))
	assert.Equal(t, "UTC", version.Timezone.String())
}

func TestBindsAndParametersKeepTheirText(t *testing.T) {
	conn := enginetest.Start(t).Conn()
	hostile := "it's\n\n; DROP TABLE x -- \\ \t \x00 \xff `\""
	var got string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT ?", hostile).Scan(&got))
	assert.Equal(t, hostile, got)
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT @v", clickhouse.Named("v", hostile)).Scan(&got))
	assert.Equal(t, hostile, got)

	escaped := strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`).Replace(hostile)
	ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{
		"text": escaped, "list": `['a','b\'c']`, "map": `{'k':1}`, "null": `\N`, "table": "one",
	}))
	var list []string
	var values map[string]uint8
	var null *string
	require.NoError(t, conn.QueryRow(ctx, `SELECT {text:String}, {list:Array(String)}, {map:Map(String, UInt8)}, {null:Nullable(String)}
		FROM system.{table:Identifier}`).Scan(&got, &list, &values, &null))
	assert.Equal(t, hostile, got)
	assert.Equal(t, []string{"a", "b'c"}, list)
	assert.Equal(t, map[string]uint8{"k": 1}, values)
	assert.Nil(t, null)

	err := conn.QueryRow(t.Context(), "SELECT {text:String}").Scan(&got)
	assertCode(t, 456, err, "a parameter must not reach the next statement")
}

func TestSettingsHoldForOneStatement(t *testing.T) {
	conn := enginetest.Start(t).Conn()
	threads := func(ctx context.Context) (got string) {
		require.NoError(t, conn.QueryRow(ctx, "SELECT toString(getSetting('max_block_size'))").Scan(&got))
		return got
	}
	before := threads(t.Context())
	with := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"max_block_size": 1234}))
	assert.Equal(t, "1234", threads(with))
	assert.Equal(t, before, threads(t.Context()))

	require.Error(t, conn.Exec(with, "SELECT no_such_column"))
	assert.Equal(t, before, threads(t.Context()), "after an error")
}

func TestExceptionsHaveTheirCodes(t *testing.T) {
	e := enginetest.Start(t)
	setting := func(name string, value any) context.Context {
		return clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{name: value}))
	}
	for name, compression := range compressions {
		t.Run(name, func(t *testing.T) {
			conn := open(t, e, func(o *clickhouse.Options) { o.Compression = compression })
			exec := func(ctx context.Context, statement string) error {
				rows, err := conn.Query(ctx, statement)
				if err != nil {
					return err
				}
				for rows.Next() {
				}
				return rows.Err()
			}
			assertCode(t, 60, exec(t.Context(), "SELECT * FROM no_such_table"))
			assertCode(t, 62, exec(t.Context(), "SELEC FROM WHERE"))
			assertCode(t, 47, exec(t.Context(), "SELECT no_such_column"))
			assertCode(t, 81, exec(t.Context(), "SELECT * FROM no_such_database.t"))
			assertCode(t, 115, exec(setting("no_such_setting", 1), "SELECT 1"))
			assertCode(t, 159, exec(setting("max_execution_time", 1), "SELECT count() FROM numbers(1000000000000)"))
			assertCode(t, 241, exec(setting("max_memory_usage", 10_000_000), "SELECT groupArray(number) FROM numbers(100000000)"))
			assertCode(t, 396, exec(setting("max_result_rows", 10), "SELECT number FROM numbers(1000000)"))
			assertCode(t, 164, exec(setting("readonly", 1), "CREATE TABLE x (a Int8) ENGINE = Memory"))
			assertCode(t, 395, exec(t.Context(), "SELECT throwIf(number = 900000, 'late') FROM numbers(1000000) SETTINGS max_block_size = 10000"),
				"an exception behind data")
		})
	}
}

func assertCode(t *testing.T, want int32, err error, message ...any) {
	t.Helper()
	var exception *clickhouse.Exception
	if assert.ErrorAs(t, err, &exception, message...) {
		assert.Equal(t, want, exception.Code, exception.Message)
	}
}

func TestDatabaseSQL(t *testing.T) {
	db := enginetest.Start(t).DB()
	_, err := db.ExecContext(t.Context(), "CREATE TABLE t (a UInt8, b String) ENGINE = MergeTree ORDER BY a")
	require.NoError(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	insert, err := tx.PrepareContext(t.Context(), "INSERT INTO t (a, b)")
	require.NoError(t, err)
	for i := range 3 {
		_, err := insert.ExecContext(t.Context(), uint8(i), fmt.Sprint("b\n\n", i))
		require.NoError(t, err)
	}
	require.NoError(t, tx.Commit())

	var got string
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT b FROM t WHERE a = ?", 2).Scan(&got))
	assert.Equal(t, "b\n\n2", got)
}

func TestStatementsRunConcurrently(t *testing.T) {
	e := enginetest.Start(t)
	conn := e.Conn()
	e.Exec("CREATE TABLE t (worker UInt32, n UInt32) ENGINE = MergeTree ORDER BY (worker, n)")
	const workers, inserts, rows = 8, 5, 200
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range inserts {
				batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO t") //nolint:clickhouselint // a batch that is sent is closed
				if !assert.NoError(t, err) {
					return
				}
				for r := range rows {
					assert.NoError(t, batch.Append(uint32(w), uint32(i*rows+r)))
				}
				assert.NoError(t, batch.Send())
				var count, distinct uint64
				assert.NoError(t, conn.QueryRow(t.Context(), "SELECT count(), uniqExact(n) FROM t WHERE worker = ?", w).Scan(&count, &distinct))
				assert.Equal(t, uint64((i+1)*rows), count, "a worker sees what it stored")
				assert.Equal(t, count, distinct)
			}
		})
	}
	wg.Wait()
	var total uint64
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM t").Scan(&total))
	assert.Equal(t, uint64(workers*inserts*rows), total)
}

func TestAnEndedContextFreesTheEngine(t *testing.T) {
	// As many statements as may run at once, so that one left running would
	// keep the next from starting.
	e := enginetest.StartOwn(t, func(c *engineConfig) { c.MaxConcurrent = 2 })
	conn := e.Conn()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			var n uint64
			err := conn.QueryRow(ctx, "SELECT count() FROM numbers(100000000000000)").Scan(&n)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
	wg.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var running uint64
	require.NoError(t, conn.QueryRow(ctx, "SELECT count() FROM system.processes WHERE query LIKE '%numbers(1000000%' AND query NOT LIKE '%processes%'").Scan(&running))
	assert.LessOrEqual(t, running, uint64(1), "at least one place is free")
	require.Eventually(t, func() bool {
		err := conn.QueryRow(ctx, "SELECT count() FROM system.processes WHERE query LIKE '%numbers(1000000%' AND query NOT LIKE '%processes%'").Scan(&running)
		return err == nil && running == 0
	}, limit, 50*time.Millisecond)
}

func TestABigResultStreamsInBoundedMemory(t *testing.T) {
	e := enginetest.StartOwn(t, nil)
	conn := open(t, e, func(o *clickhouse.Options) { o.Settings = clickhouse.Settings{"max_threads": 1} })
	read := func(want uint64) {
		rows, err := conn.Query(t.Context(), "SELECT number, repeat('x', 1000) FROM numbers(?)", want)
		require.NoError(t, err)
		var n, number uint64
		var text string
		for rows.Next() {
			n++
			if n%10_000 == 0 {
				require.NoError(t, rows.Scan(&number, &text))
				require.Equal(t, n-1, number)
			}
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
		assert.Equal(t, want, n)
	}
	read(40_000) // so that the pages of the library that it takes are there
	before := peakMemory(t, e.PID())
	read(400_000) // 400 MB
	grown := peakMemory(t, e.PID()) - before
	t.Logf("the engine's peak grew by %d MiB", grown>>20)
	assert.Less(t, grown, int64(200<<20))
}
