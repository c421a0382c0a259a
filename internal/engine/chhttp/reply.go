package chhttp

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/ClickHouse/ch-go/compress"
	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"github.com/steptrail/steptrail/internal/engine/chdb"
)

// reply is the answer to one statement.
type reply struct {
	w       http.ResponseWriter
	writers *sync.Pool       // of writer; nil without compression
	writer  *compress.Writer // nil without compression
	started bool             // the status has been sent
	gone    bool             // the client does not take what we send
	tag     string           // announced, and repeated in an exception behind data
}

// exceptionTag is the header that announces reply.tag.
const exceptionTag = "X-ClickHouse-Exception-Tag"

var (
	lz4Writers  = sync.Pool{New: func() any { return compress.NewWriter(compress.LevelZero, compress.LZ4) }}
	zstdWriters = sync.Pool{New: func() any { return compress.NewWriter(compress.LevelZero, compress.ZSTD) }}
)

func newReply(w http.ResponseWriter, values url.Values) *reply {
	r := &reply{w: w}
	if values.Get("compress") == "1" {
		r.writers = &lz4Writers
		if strings.EqualFold(values.Get("network_compression_method"), "zstd") {
			r.writers = &zstdWriters
		}
		r.writer = r.writers.Get().(*compress.Writer)
	}
	return r
}

// release ends the use of the reply.
func (r *reply) release() {
	if r.writers != nil {
		r.writers.Put(r.writer)
		r.writers, r.writer = nil, nil
	}
}

// stats adds the header that says what a statement did. It must come before
// the first write.
func (r *reply) stats(s chdb.Stats) {
	r.w.Header().Set("X-ClickHouse-Summary", fmt.Sprintf(
		`{"read_rows":"%d","written_rows":"%d","result_rows":"%d","elapsed_ns":"%d"}`,
		s.RowsScanned, s.RowsWritten, s.RowsReturned, s.Elapsed.Nanoseconds()))
}

// blockSize is the most that goes into one compressed block.
const blockSize = 1 << 20

// write sends a part of the result. An empty first part is a whole result.
func (r *reply) write(p []byte) error {
	if !r.started {
		r.started = true
		r.tag = strings.ToLower(rand.Text()[:16])
		r.w.Header().Set("Content-Type", "application/octet-stream")
		r.w.Header().Set(exceptionTag, r.tag)
	}
	for len(p) > 0 {
		piece := p[:min(len(p), blockSize)]
		p = p[len(piece):]
		if r.writer != nil {
			if err := r.writer.Compress(piece); err != nil {
				return fmt.Errorf("compress the result: %w", err)
			}
			piece = r.writer.Data
		}
		if _, err := r.w.Write(piece); err != nil {
			r.gone = true
			return fmt.Errorf("send the result: %w", err)
		}
	}
	return nil
}

// hello answers clickhouse-go's first statement. The block is encoded as the
// client's protocol version wants it, but says that ours is revision 0: results
// of the library carry none of what later revisions add.
func (r *reply) hello(h serverHello, protocolVersion uint64) error {
	block := proto.NewBlock()
	for _, name := range []string{"displayName()", "version()", "revision()", "timezone()"} {
		kind := "String"
		if name == "revision()" {
			kind = "UInt32"
		}
		if err := block.AddColumn(name, column.Type(kind)); err != nil {
			return err
		}
	}
	if err := block.Append("steptrail", h.version, uint32(0), h.timezone); err != nil {
		return err
	}
	var buffer chproto.Buffer
	if err := block.Encode(&buffer, protocolVersion); err != nil {
		return err
	}
	return r.write(buffer.Buf)
}

// fail sends an exception: with its status where nothing was sent yet, else as
// a server does it behind data, followed by the end of the connection, so that
// no client takes the part for the whole.
func (r *reply) fail(err error, version string) {
	if r.gone {
		return
	}
	code, text := exception(err)
	if code == 0 {
		code = codeUnknownInternal
	}
	if !strings.HasPrefix(text, "Code: ") {
		text = fmt.Sprintf("Code: %d. DB::Exception: %s", code, strings.TrimSuffix(text, "."))
	}
	if text = strings.TrimSpace(text); !strings.Contains(text, "(version ") {
		text += " (version " + version + ")"
	}
	if !r.started {
		header := r.w.Header()
		header.Set("Content-Type", "text/plain; charset=UTF-8")
		header.Set("X-ClickHouse-Exception-Code", strconv.Itoa(code))
		r.w.WriteHeader(http.StatusInternalServerError)
		_, _ = r.w.Write([]byte(text + "\n"))
		return
	}
	const marker = "__exception__"
	_, _ = fmt.Fprintf(r.w, "\r\n%s\r\n%s\r\n%s\n%d %s\r\n%s\r\n", marker, r.tag, text, len(text)+1, r.tag, marker)
	_ = http.NewResponseController(r.w).Flush()
	panic(http.ErrAbortHandler)
}
