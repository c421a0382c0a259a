package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/steptrail/steptrail/internal/store/column"
)

// transport moves blocks of typed columns to and from a server. There are two:
// over HTTP clickhouse-go carries Native bodies that we encode and decode; over
// the native protocol ch-go, the library under clickhouse-go, sends and
// receives the same columns (docs/adr/008-own-request-type.md).
type transport interface {
	// insert sends the rows as one block. token makes a repetition known to the
	// server; empty: none.
	insert(ctx context.Context, into string, set *column.Set, token string) error
	// query decodes the result block by block into out and calls each after
	// every block that has rows.
	query(ctx context.Context, sql string, p params, out *column.Set, each func() error) error
	// exec runs a statement that answers with nothing.
	exec(ctx context.Context, sql string, p params, set settings) error
	close() error
}

// readSeconds bounds a statement that reads, on the server.
const readSeconds = 60

// httpTransport works over HTTP.
type httpTransport struct {
	conn        driver.Conn
	compression clickhouse.CompressionMethod
	buffers     sync.Pool // of *httpBuffer
}

// httpBuffer is the memory of one request's body.
type httpBuffer struct {
	block      proto.Buffer
	compressor *compress.Writer
	packed     []byte
}

// keepBuffer is the size up to which a body's memory is kept for the next.
const keepBuffer = 64 << 20

func newHTTPTransport(conn driver.Conn, opts *clickhouse.Options) *httpTransport {
	t := &httpTransport{conn: conn}
	if c := opts.Compression; c != nil && (c.Method == clickhouse.CompressionLZ4 || c.Method == clickhouse.CompressionZSTD) {
		t.compression = c.Method
	}
	t.buffers.New = func() any {
		b := new(httpBuffer)
		if t.compression != 0 {
			b.compressor = compress.NewWriter(0, compress.Method(t.compression))
		}
		return b
	}
	return t
}

func (t *httpTransport) insert(ctx context.Context, into string, set *column.Set, token string) error {
	b := t.buffers.Get().(*httpBuffer) // the pool's own
	b.block.Reset()
	set.Encode(&b.block)
	settings := clickhouse.Settings{"async_insert": 0}
	if token != "" {
		settings["insert_deduplication_token"] = token
	}
	body := b.block.Buf
	if t.compression != 0 {
		if err := b.pack(); err != nil {
			return err
		}
		settings["decompress"] = 1
		body = b.packed
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(settings))
	if err := t.conn.InsertFormat(ctx, "Native", into, bytes.NewReader(body)); err != nil {
		return err // and leave b: the client may still be reading from it
	}
	if cap(b.block.Buf) <= keepBuffer {
		t.buffers.Put(b)
	}
	return nil
}

// packPiece is how much goes into one compressed frame.
const packPiece = 1 << 20

// pack fills packed with the block in ClickHouse's compressed frames.
func (b *httpBuffer) pack() error {
	b.packed = b.packed[:0]
	for rest := b.block.Buf; len(rest) > 0; {
		n := min(len(rest), packPiece)
		if err := b.compressor.Compress(rest[:n]); err != nil {
			return fmt.Errorf("compress: %w", err)
		}
		b.packed = append(b.packed, b.compressor.Data...)
		rest = rest[n:]
	}
	return nil
}

func (t *httpTransport) query(ctx context.Context, sql string, p params, out *column.Set, each func() error) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters(p)), clickhouse.WithSettings(clickhouse.Settings{
		"client_protocol_version": 0, // plain Native, without block info
		"wait_end_of_query":       1, // an error comes as a status, never inside of what spans said
		"max_execution_time":      readSeconds,
	}))
	body, err := t.conn.QueryFormat(ctx, "Native", sql)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	for r := proto.NewReader(body); ; {
		switch err := out.Decode(r); {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return fmt.Errorf("decode result: %w", err)
		}
		if out.Rows() == 0 {
			continue
		}
		if err := each(); err != nil {
			return err
		}
	}
}

func (t *httpTransport) close() error { return t.conn.Close() }
