package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

// BenchmarkPointRead is a small read through clickhouse-go, with a session of
// its own.
func BenchmarkPointRead(b *testing.B) {
	e := enginetest.Start(b)
	conn := e.Conn()
	e.Exec("CREATE TABLE t (a UInt64, s String) ENGINE = MergeTree ORDER BY a", "INSERT INTO t SELECT number, toString(number) FROM numbers(100000)")
	b.ReportAllocs()
	before := cpuTime(b, e.PID())
	for b.Loop() {
		var s string
		require.NoError(b, conn.QueryRow(b.Context(), "SELECT s FROM t WHERE a = 4711 SETTINGS max_threads = 1").Scan(&s))
	}
	b.ReportMetric(float64((cpuTime(b, e.PID())-before).Microseconds())/float64(b.N), "engine-µs/op")
}

// BenchmarkInsert is a batch of 50,000 rows of about 300 bytes.
func BenchmarkInsert(b *testing.B) {
	e := enginetest.Start(b)
	conn := e.Conn()
	e.Exec(`CREATE TABLE t (a UInt64, at DateTime64(9), id FixedString(16), s String, m Map(LowCardinality(String), String))
		ENGINE = MergeTree ORDER BY a`)
	const rows = 50_000
	text, id, at, attributes := strings.Repeat("xyz", 70), strings.Repeat("i", 16), time.Now(), map[string]string{"key": "value"}
	before := cpuTime(b, e.PID())
	for b.Loop() {
		b.StopTimer()
		batch, err := conn.PrepareBatch(b.Context(), "INSERT INTO t") //nolint:clickhouselint // a batch that is sent is closed
		require.NoError(b, err)
		for i := range rows {
			require.NoError(b, batch.Append(uint64(i), at, id, fmt.Sprint(text, i), attributes))
		}
		b.StartTimer()
		require.NoError(b, batch.Send())
	}
	b.ReportMetric((cpuTime(b, e.PID())-before).Seconds()*1e6/float64(rows*b.N), "engine-µs/row")
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
