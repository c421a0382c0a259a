package chhttp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blocks compresses each piece into a block of its own.
func blocks(t *testing.T, method compress.Method, pieces ...string) []byte {
	t.Helper()
	w := compress.NewWriter(compress.LevelZero, method)
	var out []byte
	for _, piece := range pieces {
		require.NoError(t, w.Compress([]byte(piece)))
		out = append(out, w.Data...)
	}
	return out
}

func TestBlocksAreReadToTheirEnd(t *testing.T) {
	for _, method := range []compress.Method{compress.None, compress.LZ4, compress.ZSTD} {
		got, err := io.ReadAll(newBlockReader(bytes.NewReader(blocks(t, method, "first, ", strings.Repeat("second", 1000)))))
		require.NoError(t, err)
		assert.Equal(t, "first, "+strings.Repeat("second", 1000), string(got))
	}
	got, err := io.ReadAll(newBlockReader(strings.NewReader("")))
	require.NoError(t, err)
	assert.Empty(t, got)
}

// A body cut anywhere but between two blocks must not read as a whole one.
func TestBlocksThatBreakOffAreAnError(t *testing.T) {
	first := len(blocks(t, compress.LZ4, "first"))
	whole := blocks(t, compress.LZ4, "first", "second")
	for cut := 1; cut < len(whole); cut++ {
		_, err := io.ReadAll(newBlockReader(bytes.NewReader(whole[:cut])))
		if cut == first {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut at %d of %d", cut, len(whole))
	}
}

func TestBlocksThatWereChangedAreAnError(t *testing.T) {
	whole := blocks(t, compress.LZ4, "some text")
	for i := range whole {
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		_, err := io.ReadAll(newBlockReader(bytes.NewReader(changed)))
		assert.Error(t, err, "byte %d", i)
	}
}

func TestALimitHoldsToTheByte(t *testing.T) {
	got, err := io.ReadAll(limit(strings.NewReader("12345"), 5))
	require.NoError(t, err)
	assert.Equal(t, "12345", string(got))

	_, err = io.ReadAll(limit(strings.NewReader("123456"), 5))
	e, ok := errors.AsType[*Error](err)
	require.True(t, ok)
	assert.Equal(t, codeTooLarge, e.Code)
}

// FuzzBlocks: no body panics, or reads as more than it says.
func FuzzBlocks(f *testing.F) {
	w := compress.NewWriter(compress.LevelZero, compress.LZ4)
	_ = w.Compress([]byte("seed"))
	f.Add(w.Data)
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0x82}, 64))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, err := io.Copy(io.Discard, limit(newBlockReader(bytes.NewReader(body)), 1<<20))
		if err == nil && len(body) > 0 && len(body) < 25 {
			t.Fatal("half a header read as an end")
		}
	})
}

func TestNamesAndValuesAreQuoted(t *testing.T) {
	assert.Equal(t, `'a\'b\\c\`+"`"+`'`, quote("a'b\\c`"))
	assert.Equal(t, "`a\\'b\\\\c\\``", quoteName("a'b\\c`"))
}
