package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

type engineConfig = engine.Config

// limit is how long a test waits for what comes in a moment on a machine that has time for it.
const limit = 2 * time.Minute

func TestMain(m *testing.M) {
	if code, child := engine.ChildMain(); child {
		os.Exit(code)
	}
	enginetest.Main(m)
}

// cpuTime is what a process has used of all processors, to 10 ms.
func cpuTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')'):]))
	var user, system int64
	_, err = fmt.Sscan(fields[12]+" "+fields[13], &user, &system) // 14 and 15 of proc_pid_stat(5)
	require.NoError(t, err)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// peakMemory is the most that a process had in memory, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

// answer is what the engine says to a raw request.
type answer struct {
	status int
	code   string // of the exception
	body   string
	err    error // of reading the body
}

// post sends a statement as curl would, without clickhouse-go.
func post(t *testing.T, e *enginetest.Engine, values url.Values, body io.Reader, header http.Header) answer {
	t.Helper()
	options := e.Options()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return options.DialContext(ctx, addr)
		},
	}
	if !values.Has("database") {
		values.Set("database", e.Database)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/?"+values.Encode(), body)
	require.NoError(t, err)
	for name, value := range options.HttpHeaders {
		request.Header.Set(name, value)
	}
	for name := range header {
		request.Header.Set(name, header.Get(name))
	}
	response, err := transport.RoundTrip(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header.Get("X-ClickHouse-Exception-Code"), string(text), err}
}

// query sends a statement in the body and wants an answer without an error.
func query(t *testing.T, e *enginetest.Engine, statement string) string {
	t.Helper()
	got := post(t, e, url.Values{}, strings.NewReader(statement), nil)
	require.NoError(t, got.err)
	require.Equal(t, http.StatusOK, got.status, "%s: %s", statement, got.body)
	return got.body
}

// refusal sends a statement in the body and wants an exception with this code.
func refusal(t *testing.T, e *enginetest.Engine, code, statement string) {
	t.Helper()
	got := post(t, e, url.Values{}, strings.NewReader(statement), nil)
	assert.Equal(t, http.StatusInternalServerError, got.status, "%s: %s", statement, got.body)
	assert.Equal(t, code, got.code, "%s: %s", statement, got.body)
}
