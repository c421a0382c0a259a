package e2e

import (
	"bytes"
	"sync"
	"testing"
	"time"
)

// maxLog bounds what is kept of the program's log, in bytes. Older lines are dropped first.
const maxLog = 1 << 20

// logBuffer keeps the tail of what a process writes. It may be written and read at the same time.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if over := l.buf.Len() + len(p) - maxLog; over > 0 {
		l.buf.Next(min(over, l.buf.Len()))
	}
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// pollInterval is the pause between two tries of Eventually.
const pollInterval = 50 * time.Millisecond

// Eventually calls check until it returns nil, and fails the test with its last error when limit has passed.
func Eventually(t testing.TB, limit time.Duration, check func() error) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %v", limit, err)
		}
		time.Sleep(pollInterval)
	}
}
