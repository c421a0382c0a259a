package chhttp

import (
	"compress/zlib"
	"errors"
	"io"
	"net/http"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// decode undoes the encodings of a request's body: Content-Encoding, then the
// compressed blocks of ClickHouse.
func decode(r *http.Request, blocks bool) (io.Reader, error) {
	body := io.Reader(r.Body)
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		reader, err := gzip.NewReader(body)
		if err != nil {
			return nil, bodyError(err)
		}
		body = reader
	case "deflate":
		reader, err := zlib.NewReader(body)
		if err != nil {
			return nil, bodyError(err)
		}
		body = reader
	case "zstd":
		reader, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
		if err != nil {
			return nil, bodyError(err)
		}
		body = reader.IOReadCloser()
	default:
		return nil, badRequest(codeNotImplemented, "Content-Encoding %q is not supported", encoding)
	}
	if blocks {
		body = newBlockReader(body)
	}
	return body, nil
}

// blockReader reads compressed blocks. Their own reader wraps io.EOF, and gives
// it also where the body ends between the header of a block and its data.
type blockReader struct {
	blocks *compress.Reader
	raw    *countingReader
}

func newBlockReader(r io.Reader) *blockReader {
	raw := &countingReader{r: r}
	return &blockReader{blocks: compress.NewReader(raw), raw: raw}
}

func (b *blockReader) Read(p []byte) (int, error) {
	before := b.raw.n
	n, err := b.blocks.Read(p)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF) && b.raw.n > before:
		return n, io.ErrUnexpectedEOF
	case errors.Is(err, io.EOF):
		return n, io.EOF
	}
	return n, err
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// limit is a reader that fails once more than most bytes come.
func limit(r io.Reader, most int64) io.Reader { return &limitedReader{r: r, left: most} }

type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, badRequest(codeTooLarge, "the body of the request is too large")
	}
	return n, err
}
