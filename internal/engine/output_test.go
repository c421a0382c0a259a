package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOutputOfAChildIsLoggedByLineAndInBounds(t *testing.T) {
	var log bytes.Buffer
	o := newOutputLog(slog.New(slog.NewTextHandler(&log, nil)))
	for _, piece := range []string{"first ", "line\nsec", "ond\n\n  \nbad \xff byte\n", strings.Repeat("x", 10*maxLine), "\nunfinished"} {
		n, err := o.Write([]byte(piece))
		require.NoError(t, err)
		assert.Equal(t, len(piece), n)
	}
	o.flush()
	assert.Equal(t, "first line | second | bad � byte | "+strings.Repeat("x", maxLine)+" | unfinished", o.tail())
	assert.Equal(t, 5, strings.Count(log.String(), "engine output"))
	assert.Contains(t, log.String(), `line="first line"`)
}

func TestAFloodOfOutputIsCounted(t *testing.T) {
	var log bytes.Buffer
	o := newOutputLog(slog.New(slog.NewTextHandler(&log, nil)))
	now := time.Unix(1000, 0)
	emit := func(line string) {
		o.partial = append(o.partial, line...)
		o.emit(now)
	}
	for i := range 100 {
		emit(fmt.Sprint("line ", i))
	}
	assert.Equal(t, maxLinesPerSecond, strings.Count(log.String(), "line="))
	now = now.Add(time.Second)
	emit("later")
	assert.Contains(t, log.String(), fmt.Sprintf("lines=%d", 100-maxLinesPerSecond))
	assert.True(t, strings.HasSuffix(o.tail(), "line 99 | later"), o.tail())
}
