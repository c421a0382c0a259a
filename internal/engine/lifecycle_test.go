package engine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine"
	"github.com/steptrail/steptrail/internal/engine/chhttp"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

func kill(t *testing.T, pid int) {
	t.Helper()
	require.Positive(t, pid) // 0 would be the group of the test itself
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	require.Positive(t, pid)
	require.Eventually(t, func() bool {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return strings.Contains(string(status), "State:\tZ")
	}, limit, 10*time.Millisecond, "process %d is still there", pid)
}

func shutdown(t *testing.T, e *engine.Engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit)
	defer cancel()
	require.NoError(t, e.Shutdown(ctx))
}

func TestAKilledEngineIsStartedAgainWithItsData(t *testing.T) {
	e := enginetest.StartOwn(t, nil)
	conn := e.Conn()
	e.Exec("CREATE TABLE t (a Int32) ENGINE = MergeTree ORDER BY a", "INSERT INTO t SELECT number FROM numbers(1000)")

	running := make(chan error, 1)
	go func() { // ends with the engine
		var n uint64
		running <- conn.QueryRow(t.Context(), "SELECT count() FROM numbers(100000000000000)").Scan(&n)
	}()
	require.Eventually(t, func() bool {
		return query(t, e, "SELECT count() FROM system.processes WHERE query LIKE '%100000000000000%' AND query NOT LIKE '%processes%'") == "1\n"
	}, limit, 20*time.Millisecond)

	first := e.PID()
	kill(t, first)
	require.ErrorIs(t, <-running, engine.ErrUnavailable, "what is under way fails so that it can be retried")
	require.Eventually(t, func() bool { return e.PID() != first }, limit, time.Millisecond)

	var n uint64
	begin := time.Now()
	err := conn.QueryRow(t.Context(), "SELECT count() FROM t").Scan(&n)
	if err != nil && time.Since(begin) > 4*time.Second { // it waited, for less than the restart takes here
		require.ErrorIs(t, err, engine.ErrUnavailable)
		require.NoError(t, e.Wait(t.Context()))
		err = conn.QueryRow(t.Context(), "SELECT count() FROM t").Scan(&n)
	}
	require.NoError(t, err, "the next statement waits for the restart")
	assert.Equal(t, uint64(1000), n)
	assert.NotEqual(t, first, e.PID())
	assert.Equal(t, int64(1), e.Restarts())
	assert.NoError(t, e.Health(t.Context()))
}

func TestHealthSaysThatTheEngineIsDownAndWaitThatItIsBack(t *testing.T) {
	e := enginetest.StartOwn(t, nil)
	require.NoError(t, e.Health(t.Context()))
	assert.Equal(t, query(t, e, "SELECT version()"), e.Version()+"\n")
	pid := e.PID()
	kill(t, pid)
	gone(t, pid)
	require.Eventually(t, func() bool { return e.PID() != pid }, limit, time.Millisecond)
	if e.PID() == 0 {
		err := e.Health(t.Context())
		if e.PID() == 0 { // and was so meanwhile
			assert.ErrorIs(t, err, engine.ErrUnavailable)
		}
	}
	require.NoError(t, e.Wait(t.Context()))
	require.NoError(t, e.Health(t.Context()))
}

func TestOneDataDirectoryHasOneOwner(t *testing.T) {
	cfg := enginetest.Config(t)
	e, err := engine.Start(t.Context(), cfg)
	require.NoError(t, err)
	defer shutdown(t, e)

	_, err = engine.Start(t.Context(), cfg)
	require.ErrorIs(t, err, engine.ErrInUse)
	assert.ErrorContains(t, err, fmt.Sprintf("process %d", os.Getpid()))
	assert.ErrorContains(t, err, cfg.DataDir)

	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(cfg.DataDir, link))
	cfg.DataDir = link
	_, err = engine.Start(t.Context(), cfg)
	require.ErrorIs(t, err, engine.ErrInUse, "by another name")

	assert.NoError(t, e.Health(t.Context()), "the owner is not harmed")
}

func TestADirectoryIsFreeAfterShutdown(t *testing.T) {
	cfg := enginetest.Config(t)
	for range 2 {
		e, err := engine.Start(t.Context(), cfg)
		require.NoError(t, err)
		pid := e.PID()
		shutdown(t, e)
		shutdown(t, e) // once more does nothing
		gone(t, pid)
		require.ErrorIs(t, e.Wait(t.Context()), engine.ErrClosed)
		require.ErrorIs(t, e.Health(t.Context()), engine.ErrClosed)
		assert.Zero(t, e.PID())
	}
}

func TestShutdownLetsAStatementEnd(t *testing.T) {
	cfg := enginetest.Config(t)
	e, err := engine.Start(t.Context(), cfg)
	require.NoError(t, err)
	var conn net.Conn
	for try, seen := 0, false; !seen; try++ { // one that was over before it was seen is sent again
		require.Less(t, try, 20)
		conn = dialRaw(t, e)
		text := fmt.Sprint("slept-", try)
		body := "SELECT sleep(2), '" + text + "'"
		_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		require.NoError(t, err)
		for begin := time.Now(); !seen && time.Since(begin) < 2*time.Second; {
			seen = running(t, e, text)
		}
	}
	shutdown(t, e)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	assert.Equal(t, http.StatusOK, response.StatusCode)
}

func TestShutdownKillsAStatementThatDoesNotEnd(t *testing.T) {
	cfg := enginetest.Config(t)
	e, err := engine.Start(t.Context(), cfg)
	require.NoError(t, err)
	conn := dialRaw(t, e)
	body := "SELECT count(), 'endless' FROM numbers(100000000000000)"
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return running(t, e, "endless") }, limit, 10*time.Millisecond)
	shutdown(t, e) // fails where the statement keeps the engine from ending
}

func TestShutdownWithAnEndedContextKillsTheChild(t *testing.T) {
	e, err := engine.Start(t.Context(), enginetest.Config(t))
	require.NoError(t, err)
	pid := e.PID()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Shutdown(ctx) // nil where the child was quick
	gone(t, pid)
}

// dialRaw is a connection to the engine, closed when the test ends.
func dialRaw(t *testing.T, e *engine.Engine) net.Conn {
	t.Helper()
	conn, err := e.Options("").DialContext(t.Context(), "")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(limit)))
	return conn
}

// running reports whether a statement with this text runs.
func running(t *testing.T, e *engine.Engine, text string) bool {
	t.Helper()
	conn := dialRaw(t, e)
	body := "SELECT count() FROM system.processes WHERE position(query, '" + text + "') > 0 AND position(query, 'processes') = 0"
	_, err := fmt.Fprintf(conn, "POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var n int
	_, err = fmt.Fscan(response.Body, &n)
	require.NoError(t, err)
	return n > 0
}

// A signal to the whole group, as systemd and terminals send it, must leave the
// engine to the parent, which still has data to write.
func TestTheChildIgnoresSignalsToEnd(t *testing.T) {
	e := enginetest.StartOwn(t, nil)
	pid := e.PID()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		require.NoError(t, syscall.Kill(pid, signal))
	}
	assert.Equal(t, "1\n", query(t, e, "SELECT 1"))
	group, err := syscall.Getpgid(pid)
	require.NoError(t, err)
	assert.Equal(t, pid, group, "Ctrl-C reaches the terminal's group, and the child is in another")
	assert.Equal(t, pid, e.PID())
}

func TestTheSocketIsForItsOwnerAlone(t *testing.T) {
	cfg := enginetest.Config(t)
	e, err := engine.Start(t.Context(), cfg)
	require.NoError(t, err)
	defer shutdown(t, e)
	info, err := os.Stat(filepath.Join(cfg.DataDir, "run", "engine.sock"))
	require.NoError(t, err)
	assert.Equal(t, os.ModeSocket|0o600, info.Mode())
	require.NoError(t, filepath.WalkDir(cfg.DataDir, func(path string, entry os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		if err == nil && path != cfg.DataDir {
			assert.Zero(t, info.Mode().Perm()&0o077, "%s has mode %s", path, info.Mode())
		}
		return nil
	}))
}

func TestALoopbackPortWantsTheSecret(t *testing.T) {
	ways := map[string]func(*engine.Config){
		"where it is asked for": func(c *engine.Config) { c.Loopback = true },
		"where the path of the socket is too long": func(c *engine.Config) {
			c.DataDir = filepath.Join(c.DataDir, strings.Repeat("long/", 30))
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			e := enginetest.StartOwn(t, way)
			var n uint8
			require.NoError(t, e.Conn().QueryRow(t.Context(), "SELECT 1").Scan(&n), "clickhouse-go sends it")
			require.NoError(t, e.Health(t.Context()))

			conn := dialRaw(t, e.Engine)
			address := conn.RemoteAddr().(*net.TCPAddr)
			assert.True(t, address.IP.IsLoopback())
			for _, secret := range []string{"", "wrong"} {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address.String()+"/", strings.NewReader("SELECT 1"))
				require.NoError(t, err)
				request.Header.Set(chhttp.SecretHeader, secret)
				response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
				require.NoError(t, err)
				_ = response.Body.Close()
				assert.Equal(t, http.StatusForbidden, response.StatusCode)
			}
		})
	}
}

func TestStartFailsWithTheReason(t *testing.T) {
	t.Run("no library", func(t *testing.T) {
		cfg := enginetest.Config(t)
		cfg.LibraryPath = filepath.Join(t.TempDir(), "libchdb.so")
		_, err := engine.Start(t.Context(), cfg)
		require.ErrorContains(t, err, cfg.LibraryPath)
	})
	t.Run("another library", func(t *testing.T) {
		cfg := enginetest.Config(t)
		cfg.LibraryPath = "libc.so.6"
		_, err := engine.Start(t.Context(), cfg)
		require.ErrorContains(t, err, "is no libchdb")
	})
	t.Run("a program that hosts nothing", func(t *testing.T) {
		cfg := enginetest.Config(t)
		cfg.Executable = "/bin/true"
		_, err := engine.Start(t.Context(), cfg)
		require.ErrorContains(t, err, "ended at its start")
	})
	t.Run("a program that is not there", func(t *testing.T) {
		cfg := enginetest.Config(t)
		cfg.Executable = filepath.Join(t.TempDir(), "nothing")
		_, err := engine.Start(t.Context(), cfg)
		require.ErrorIs(t, err, os.ErrNotExist)
	})
	t.Run("a program that does not answer", func(t *testing.T) {
		cfg := enginetest.Config(t)
		script := filepath.Join(t.TempDir(), "host")
		require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho why it fails\nexec sleep 600\n"), 0o700))
		cfg.Executable, cfg.StartTimeout = script, 5*time.Second
		_, err := engine.Start(t.Context(), cfg)
		require.ErrorContains(t, err, "did not start within 5s")
		require.ErrorContains(t, err, "why it fails")
	})
	t.Run("a context that ends", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := engine.Start(ctx, enginetest.Config(t))
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
	t.Run("a directory that cannot be made", func(t *testing.T) {
		cfg := enginetest.Config(t)
		cfg.DataDir = "/proc/nothing"
		_, err := engine.Start(t.Context(), cfg)
		require.ErrorContains(t, err, "/proc/nothing")
	})
	t.Run("limits that make no sense", func(t *testing.T) {
		_, err := engine.Start(t.Context(), engine.Config{DataDir: "x", MaxMemory: 1})
		require.ErrorContains(t, err, "MaxMemory")
		_, err = engine.Start(t.Context(), engine.Config{})
		require.ErrorContains(t, err, "DataDir")
	})
}

// parentEnv makes the test binary a parent of an engine, to be killed.
const parentEnv = "STEPTRAIL_TEST_PARENT"

// TestParent is no test: it is run by the next one in another process.
func TestParent(t *testing.T) {
	message := os.Getenv(parentEnv)
	if message == "" {
		t.Skip("run by TestAnEngineEndsWithItsKilledParent")
	}
	var cfg engine.Config
	require.NoError(t, json.Unmarshal([]byte(message), &cfg))
	e, err := engine.Start(t.Context(), cfg)
	require.NoError(t, err)
	fmt.Println("engine pid", e.PID())
	select {}
}

func TestAnEngineEndsWithItsKilledParent(t *testing.T) {
	for _, temporary := range []bool{false, true} {
		t.Run(fmt.Sprintf("temporary %t", temporary), func(t *testing.T) {
			cfg := enginetest.Config(t)
			cfg.Temporary, cfg.Logger = temporary, nil
			message, err := json.Marshal(cfg)
			require.NoError(t, err)
			parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestParent$")
			parent.Env = append(os.Environ(), parentEnv+"="+string(message))
			parent.Stderr = os.Stderr
			output, err := parent.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, parent.Start())
			var pid int
			for lines := bufio.NewScanner(output); pid == 0; {
				require.True(t, lines.Scan(), "the parent ended too soon")
				_, _ = fmt.Sscanf(lines.Text(), "engine pid %d", &pid)
			}

			_, err = engine.Start(t.Context(), cfg)
			require.ErrorIs(t, err, engine.ErrInUse)
			assert.ErrorContains(t, err, fmt.Sprintf("process %d", parent.Process.Pid))

			require.NoError(t, parent.Process.Kill())
			_ = parent.Wait()
			if temporary {
				gone(t, pid)
				assert.NoDirExists(t, cfg.DataDir)
				return
			}
			e, err := engine.Start(t.Context(), cfg) // at once: it waits for the old child
			require.NoError(t, err)
			gone(t, pid)
			shutdown(t, e)
		})
	}
}

func TestTheLibraryIsLookedForFromTheExecutableUp(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	library := filepath.Join(root, "node_modules", "@chdb", "lib-linux-x64-gnu", "libchdb.so")
	require.NoError(t, os.MkdirAll(deep, 0o700))
	require.NoError(t, os.MkdirAll(filepath.Dir(library), 0o700))

	t.Setenv(engine.LibraryEnv, "")
	_, err := engine.FindLibrary(deep)
	require.ErrorIs(t, err, engine.ErrLibraryNotFound)
	for _, part := range []string{library, filepath.Join(deep, "node_modules"), filepath.Dir(os.Args[0]), engine.LibraryEnv, "make engine", "npm ci"} {
		assert.ErrorContains(t, err, part)
	}

	require.NoError(t, os.WriteFile(library, nil, 0o600))
	found, err := engine.FindLibrary(deep)
	require.NoError(t, err)
	assert.Equal(t, library, found)

	other := filepath.Join(deep, "other.so")
	t.Setenv(engine.LibraryEnv, other)
	_, err = engine.FindLibrary(deep)
	require.ErrorIs(t, err, engine.ErrLibraryNotFound, "a wrong path is not passed over")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	found, err = engine.FindLibrary(deep)
	require.NoError(t, err)
	assert.Equal(t, other, found)
}
