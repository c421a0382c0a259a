//go:build !race

package chdb_test

// These tests load the library into the test's own process, where a race-built
// one must not have it; package engine tests the rest in a process of its own.

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine/chdb"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

var (
	loadOnce sync.Once
	library  *chdb.Library
	dataDir  string
	loadErr  error
)

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(dataDir)
	os.Exit(code)
}

// connect opens a connection; the library is loaded once, and its data stays
// open until the process ends.
func connect(t *testing.T) *chdb.Conn {
	t.Helper()
	path := enginetest.Library(t)
	loadOnce.Do(func() {
		if library, loadErr = chdb.Load(path); loadErr != nil {
			return
		}
		if dataDir, loadErr = os.MkdirTemp("", "chdb"); loadErr != nil { //nolint:usetesting // outlives the test: the library loads once
			return
		}
		if loadErr = os.Mkdir(filepath.Join(dataDir, "metadata"), 0o700); loadErr != nil {
			return
		}
		_, loadErr = library.Connect("--path=" + dataDir) // kept: the last close would end the engine
	})
	require.NoError(t, loadErr)
	conn, err := library.Connect("--path=" + dataDir)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

func ask(t *testing.T, conn *chdb.Conn, sql string, params ...chdb.Param) string {
	t.Helper()
	result, err := conn.Query(sql, "TabSeparated", params...)
	require.NoError(t, err)
	defer result.Close()
	return string(result.Data())
}

// Trap 2: after a connect, a nil dereference in Go must still be a panic that
// can be recovered, not the end of the process.
func TestGoKeepsItsSignalHandlers(t *testing.T) {
	conn := connect(t)
	recovered := func() (value any) {
		defer func() { value = recover() }()
		var p *struct{ a int }
		return p.a // the fault is the test
	}
	assert.ErrorContains(t, recovered().(error), "nil pointer dereference")
	assert.Equal(t, "1\n", ask(t, conn, "SELECT 1"))
	connect(t)
	assert.ErrorContains(t, recovered().(error), "nil pointer dereference", "after another connect")
}

func TestErrorsCarryTheirCode(t *testing.T) {
	conn := connect(t)
	for sql, code := range map[string]int{
		"SELECT * FROM nothing": 60,
		"SELECT (":              62,
		"SELECT throwIf(1)":     395,
	} {
		_, err := conn.Query(sql, "Null")
		e, ok := errors.AsType[*chdb.Error](err)
		require.True(t, ok, "%s: %v", sql, err)
		assert.Equal(t, code, e.Code, e.Message)
	}
}

func TestParametersKeepEveryByte(t *testing.T) {
	conn := connect(t)
	assert.Equal(t, "6100FF273B\t3\n", ask(t, conn, "SELECT hex({a:String}), length({a:String}) - {b:UInt8}",
		chdb.Param{Name: "a", Value: "a\x00\xff';"}, chdb.Param{Name: "b", Value: "2"}))
	assert.Equal(t, "1\n", ask(t, conn, "SELECT 1"))
}

func TestAStreamComesInChunks(t *testing.T) {
	conn := connect(t)
	stream, err := conn.Stream("SELECT number FROM numbers(1000000)", "TabSeparated")
	require.NoError(t, err)
	defer stream.Close()
	chunks, lines := 0, 0
	for {
		chunk, err := stream.Next()
		require.NoError(t, err)
		if chunk == nil {
			break
		}
		chunks++
		lines += strings.Count(string(chunk.Data()), "\n")
		chunk.Close()
	}
	assert.Equal(t, 1_000_000, lines)
	assert.Greater(t, chunks, 5)
	last, err := stream.Next()
	assert.Nil(t, last)
	assert.NoError(t, err)
}

// Trap 5, at its source.
func TestAConnectionOutlivesAStreamThatIsClosedEarly(t *testing.T) {
	conn := connect(t)
	for range 3 {
		stream, err := conn.Stream("SELECT number FROM numbers(100000000)", "TabSeparated")
		require.NoError(t, err)
		chunk, err := stream.Next()
		require.NoError(t, err)
		chunk.Close()
		stream.Close()
		stream.Close()
		assert.Equal(t, "1\n", ask(t, conn, "SELECT 1"))
	}
	_, err := conn.Stream("CREATE TABLE x (a Int8) ENGINE = Memory", "Null")
	if err == nil {
		t.Log("a stream of a statement without a result starts")
	}
	assert.Equal(t, "1\n", ask(t, conn, "SELECT 1"))
}

func TestAnInsertIsStoredWhenDoneAndOnlyThen(t *testing.T) {
	conn := connect(t)
	if !library.StreamsInserts() {
		t.Skip("no insert streams in this library")
	}
	ask(t, conn, "CREATE DATABASE IF NOT EXISTS inserts; CREATE OR REPLACE TABLE inserts.t (s String) ENGINE = MergeTree ORDER BY s")
	insert, err := conn.Insert("INSERT INTO inserts.t (s)", "TabSeparated")
	require.NoError(t, err)
	require.NoError(t, insert.Append([]byte("a\n\nDROP TABLE ins")))
	require.NoError(t, insert.Append(nil))
	require.NoError(t, insert.Append([]byte("erts.t\n")))
	stats, err := insert.Done()
	require.NoError(t, err)
	assert.Equal(t, uint64(3), stats.RowsWritten)
	insert.Close()

	insert, err = conn.Insert("INSERT INTO inserts.t (s)", "TabSeparated")
	require.NoError(t, err)
	require.NoError(t, insert.Append([]byte("cancelled\n")))
	insert.Close()
	insert.Close()
	assert.Equal(t, "\nDROP TABLE inserts.t\na\n", ask(t, conn, "SELECT s FROM inserts.t ORDER BY s"))

	_, err = conn.Insert("INSERT INTO inserts.nothing", "Native")
	e, ok := errors.AsType[*chdb.Error](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, 60, e.Code)
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	_, err := chdb.Load(filepath.Join(t.TempDir(), "nothing.so"))
	require.ErrorContains(t, err, "nothing.so")
	_, err = chdb.Load("libc.so.6")
	require.ErrorContains(t, err, "chdb_connect")
}

func TestASecondPathIsRefused(t *testing.T) {
	connect(t)
	_, err := library.Connect("--path=" + t.TempDir())
	require.Error(t, err)
}
