package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"github.com/steptrail/steptrail/internal/agent"
)

const historySpec = "/api/v1/runs/{run_id}/history"

func TestReadingContentIsALineOfTheAccessLog(t *testing.T) {
	f := start(t, withUnknownPolicy(t))
	f.memory.add(span("r/1", 1, 1, nil))
	for _, content := range []string{"none", "refs", "full"} {
		require.Equal(t, 200, f.get(t, historySpec, "/api/v1/runs/r%2F1/history?content="+content, "From", "ana@example.org").status)
	}
	f.get(t, historySpec, "/api/v1/runs/r%2F1/history?content=full&format=ndjson")
	f.get(t, historySpec, "/api/v1/runs/r%2F1/history?content=full", "From", "ana\tor bob")
	f.get(t, historySpec, "/api/v1/runs/r%2F1/history?content=full", "From", strings.Repeat("x", 201))
	require.Equal(t, 404, f.get(t, historySpec, "/api/v1/runs/nowhere/history?content=full").status)
	f.server.accesses.done.Wait()

	var got []string
	for _, a := range f.memory.accesses {
		require.Equal(t, "r/1", a.Run)
		require.Equal(t, "admin", a.Role)
		require.Equal(t, "content=full from 127.0.0.1", a.Detail)
		require.Equal(t, a.At/1e9+24*3600, a.Expires, "the policy's term")
		got = append(got, a.Action+" "+a.Actor)
	}
	require.Equal(t, []string{"run.read ana@example.org", "run.read 127.0.0.1", "run.read 127.0.0.1", "run.read 127.0.0.1"}, got,
		"what no person is called says nothing")
	require.Contains(t, string(f.get(t, "/metrics", "/metrics").body), `steptrail_query_access_lines_total{result="written"} 4`)
}

func TestLinesThatAreLostWithTheServerAreCountedAndLogged(t *testing.T) {
	f := start(t, nil)
	f.memory.fail = errors.New("disk full")
	f.server.accesses.add("acme", agent.Access{Run: "r/1"})
	f.server.accesses.add("acme", agent.Access{Run: "r/2"})
	f.server.Close()
	f.server.accesses = f.server.newAccessLog() // for the end of the test
	require.Contains(t, string(f.get(t, "/metrics", "/metrics").body), `steptrail_query_access_lines_total{result="lost"} 2`)
	require.Equal(t, 1, f.logs.FilterLevelExact(zapcore.ErrorLevel).FilterMessage("lines of the access log are lost").Len())
}

// recorded is an access log that writes to a slice.
type recorded struct {
	*accessLog
	away  atomic.Bool
	tries atomic.Int64

	lock  sync.Mutex
	lines []string
	lost  []int // lines, each time that it was told
}

func (r *recorded) got() (lines []string, lost []int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.lines, r.lost
}

func record() *recorded {
	r := &recorded{}
	r.accessLog = &accessLog{
		write: func(_ context.Context, tenant string, lines []agent.Access) error {
			r.tries.Add(1)
			if r.away.Load() {
				return errors.New("away")
			}
			r.lock.Lock()
			defer r.lock.Unlock()
			for _, a := range lines {
				r.lines = append(r.lines, tenant+" "+a.Run)
			}
			return nil
		},
		lost: func(n int) {
			r.lock.Lock()
			defer r.lock.Unlock()
			r.lost = append(r.lost, n)
		},
		tried: func(int, error) {}, ending: make(chan struct{}),
	}
	return r
}

func TestLinesThatCouldNotBeWrittenAreTriedAgainInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record()
		r.away.Store(true)
		for i := range 5 {
			r.add([]string{"acme", "acme", "other"}[i%3], agent.Access{Run: fmt.Sprint(i)})
		}
		want := []string{"acme 0", "acme 1", "acme 3", "acme 4", "other 2"} // the order of each tenant's
		time.Sleep(10 * accessRetry)
		synctest.Wait()
		lines, _ := r.got()
		require.Empty(t, lines)
		require.Greater(t, r.tries.Load(), int64(5))
		r.away.Store(false)
		time.Sleep(2 * accessRetry)
		synctest.Wait()
		lines, _ = r.got()
		require.Equal(t, want, lines)
		r.add("acme", agent.Access{Run: "later"})
		r.close()
		lines, lost := r.got()
		require.Equal(t, append(want, "acme later"), lines)
		require.Empty(t, lost)
	})
}

func TestTheAccessLogHoldsABoundedNumberOfLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record()
		r.away.Store(true)
		for range maxAccesses + 7 {
			r.add("acme", agent.Access{})
		}
		time.Sleep(2 * accessRetry)
		synctest.Wait()
		_, lost := r.got()
		require.Equal(t, []int{7}, lost, "told once, not for each")
		r.away.Store(false)
		time.Sleep(2 * accessRetry)
		r.close()
		lines, lost := r.got()
		require.Len(t, lines, maxAccesses)
		require.Equal(t, []int{7}, lost)
		r.add("acme", agent.Access{})
		_, lost = r.got()
		require.Equal(t, []int{7, 1}, lost, "nothing is written after the end")
	})
}

func TestLinesOfTenantsThatTakeTurnsAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var batches []string
		l := &accessLog{ending: make(chan struct{}), lost: func(int) {}, tried: func(int, error) {}}
		l.write = func(_ context.Context, tenant string, lines []agent.Access) error {
			time.Sleep(time.Second)
			text := tenant
			for i := range lines {
				text += " " + lines[i].Run
			}
			batches = append(batches, text)
			return nil
		}
		for i := range 8 {
			l.add([]string{"a", "b"}[i%2], agent.Access{Run: fmt.Sprint(i)})
			synctest.Wait() // the first is being written alone
		}
		l.close()
		require.Equal(t, []string{"a 0", "b 1 3 5 7", "a 2 4 6"}, batches)
	})
}
