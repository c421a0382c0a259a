package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// outputLog hands the lines that a child writes to a logger: bounded in length
// and rate, since the engine can write a hundred a second. It keeps the last
// ones to explain an end.
type outputLog struct {
	logger *slog.Logger

	mu      sync.Mutex
	partial []byte
	last    []string

	second  time.Time // in which lines are counted
	lines   int
	dropped int
}

const (
	maxLine           = 2048
	maxLinesPerSecond = 20
	keptLines         = 8
)

func newOutputLog(logger *slog.Logger) *outputLog { return &outputLog{logger: logger} }

// Write never fails.
func (o *outputLog) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte{'\n'})
		if room := maxLine - len(o.partial); room > 0 {
			o.partial = append(o.partial, line[:min(len(line), room)]...)
		}
		if !found {
			return n, nil
		}
		o.emit(time.Now())
		p = rest
	}
}

// flush emits a line that was not ended.
func (o *outputLog) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.emit(time.Now())
}

func (o *outputLog) emit(now time.Time) {
	line := strings.ToValidUTF8(strings.TrimSpace(string(o.partial)), "�")
	o.partial = o.partial[:0]
	if line == "" {
		return
	}
	if o.last = append(o.last, line); len(o.last) > keptLines {
		o.last = o.last[1:]
	}
	if second := now.Truncate(time.Second); !second.Equal(o.second) {
		if o.dropped > 0 {
			o.logger.Warn("engine output suppressed", slog.Int("lines", o.dropped))
		}
		o.second, o.lines, o.dropped = second, 0, 0
	}
	if o.lines++; o.lines > maxLinesPerSecond {
		o.dropped++
		return
	}
	o.logger.Warn("engine output", slog.String("line", line))
}

// tail is the last lines in one.
func (o *outputLog) tail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.last, " | ")
}
