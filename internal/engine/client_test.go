package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestBasic(t *testing.T) {
	t0 := time.Now()
	e := enginetest.Start(t)
	t.Log("started", time.Since(t0))
	conn := e.Conn()
	require.NoError(t, conn.Ping(t.Context()))
	require.NoError(t, conn.Exec(t.Context(), "CREATE TABLE t (a UInt32, b String) ENGINE=MergeTree ORDER BY a"))
	b, err := conn.PrepareBatch(t.Context(), "INSERT INTO t")
	require.NoError(t, err)
	for i := range 1000 {
		require.NoError(t, b.Append(uint32(i), "x\n\nDROP TABLE t"))
	}
	require.NoError(t, b.Send())
	var n uint64
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM t").Scan(&n))
	require.Equal(t, uint64(1000), n)
}
