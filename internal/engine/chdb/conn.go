package chdb

import (
	"errors"
	"time"
	"unsafe"
)

// Conn is a connection: a session with its own settings, database and temporary
// tables. It runs one statement at a time; a second call waits for the first.
// Close must not run beside another call.
type Conn struct {
	lib    *Library
	ptr    unsafe.Pointer // chdb_connection *
	handle unsafe.Pointer // what ptr points to; all calls but close take this
}

// Param is the value of a placeholder {name:Type}. Value is text in the
// escaping of TSV: backslash, tab and line feed inside a value are written \\,
// \t and \n, and \N is NULL. A server reads its HTTP parameters the same way.
type Param struct{ Name, Value string }

// Connect opens a connection. args are the library's command line without the
// program name, for instance "--path=/data"; all connections of a process must
// name the same path. The library says why it refuses on stderr only.
func (l *Library) Connect(args ...string) (*Conn, error) {
	argv := make([]unsafe.Pointer, 0, len(args)+1)
	for _, arg := range append([]string{"clickhouse"}, args...) {
		argv = append(argv, unsafe.Pointer(&cbytes(arg)[0]))
	}
	l.connect.Lock()
	defer l.connect.Unlock()
	var ptr unsafe.Pointer
	l.signals.keep(func() { ptr = l.fn.connect(int32(len(argv)), first(argv)) })
	if ptr == nil {
		return nil, errors.New("the engine refused the connection")
	}
	return &Conn{lib: l, ptr: ptr, handle: *(*unsafe.Pointer)(ptr)}, nil
}

// Close ends the connection. It waits for a running statement.
func (c *Conn) Close() {
	if c.ptr != nil {
		c.lib.fn.close(c.ptr)
		c.ptr, c.handle = nil, nil
	}
}

// Result is the outcome of a statement. Close frees it; Data is gone after it.
type Result struct {
	lib *Library
	ptr unsafe.Pointer
}

// Data is the encoded result: the library's memory, not a copy.
func (r *Result) Data() []byte {
	p, n := r.lib.fn.buffer(r.ptr), r.lib.fn.length(r.ptr)
	if p == nil || n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(p), n)
}

// Stats says what a statement read and wrote.
type Stats struct {
	RowsReturned, RowsScanned, RowsWritten uint64
	Elapsed                                time.Duration
}

// Stats of the statement, or of the chunk where the result is one.
func (r *Result) Stats() Stats {
	f := &r.lib.fn
	return Stats{
		RowsReturned: f.rowsRead(r.ptr),
		RowsScanned:  f.scannedRows(r.ptr),
		RowsWritten:  f.rowsWritten(r.ptr),
		Elapsed:      time.Duration(f.elapsed(r.ptr) * float64(time.Second)),
	}
}

// Close frees the result. A second call does nothing.
func (r *Result) Close() {
	if r.ptr != nil {
		r.lib.fn.destroy(r.ptr)
		r.ptr = nil
	}
}

// take wraps a result of the library, or frees it and returns its error.
func (l *Library) take(ptr unsafe.Pointer) (*Result, error) {
	if ptr == nil {
		return nil, errNoResult
	}
	if text := l.fn.failure(ptr); text != "" {
		l.fn.destroy(ptr)
		return nil, toError(text)
	}
	return &Result{lib: l, ptr: ptr}, nil
}

// Query runs sql and keeps the whole result in memory. The text may hold
// several statements: the library runs them all. The data of an INSERT must
// never be in it: at the first blank line the library takes the rest for SQL.
// The error is an *Error.
func (c *Conn) Query(sql, format string, params ...Param) (*Result, error) {
	q, f, p := cbytes(sql), cbytes(format), newCParams(params)
	defer p.release()
	return c.lib.take(c.lib.fn.query(c.handle, first(q), uintptr(len(sql)), first(f), uintptr(len(format)),
		first(p.names), first(p.nameSizes), first(p.values), first(p.valueSizes), p.count()))
}

// Stream starts a SELECT whose result is fetched in chunks; other statements
// are refused with code 36. The connection is busy until Close.
func (c *Conn) Stream(sql, format string, params ...Param) (*Stream, error) {
	q, f, p := cbytes(sql), cbytes(format), newCParams(params)
	defer p.release()
	r, err := c.lib.take(c.lib.fn.stream(c.handle, first(q), uintptr(len(sql)), first(f), uintptr(len(format)),
		first(p.names), first(p.nameSizes), first(p.values), first(p.valueSizes), p.count()))
	if err != nil {
		return nil, err
	}
	return &Stream{conn: c, stream: r}, nil
}

// Stream is a running SELECT.
type Stream struct {
	conn   *Conn
	stream *Result
	ended  bool
}

// Next waits for the next chunk, which the caller closes; nil is the end. Each
// chunk is a complete document of the format. The error is an *Error.
func (s *Stream) Next() (*Result, error) {
	if s.ended {
		return nil, nil
	}
	chunk, err := s.conn.lib.take(s.conn.lib.fn.fetch(s.conn.handle, s.stream.ptr))
	if err != nil {
		s.ended = true
		return nil, err
	}
	if s.conn.lib.fn.length(chunk.ptr) == 0 {
		chunk.Close()
		s.ended = true
		return nil, nil
	}
	return chunk, nil
}

// Close frees the stream, after cancelling what was not read: a connection
// with an abandoned stream answers nothing, or aborts the process, up to 26.5.
func (s *Stream) Close() {
	if s.stream.ptr == nil {
		return
	}
	if !s.ended {
		s.conn.lib.fn.cancel(s.conn.handle, s.stream.ptr)
		s.ended = true
	}
	s.stream.Close()
}

// Insert starts an INSERT whose data follows through Append. sql is the
// statement up to, and without, its FORMAT clause. The connection is busy until
// Close. It needs StreamsInserts.
func (c *Conn) Insert(sql, format string, params ...Param) (*Insert, error) {
	if !c.lib.inserts {
		return nil, errors.New("this libchdb has no insert streams")
	}
	q, f, p := cbytes(sql), cbytes(format), newCParams(params)
	defer p.release()
	ptr := c.lib.fn.insert(c.handle, first(q), uintptr(len(sql)), first(f), uintptr(len(format)),
		first(p.names), first(p.nameSizes), first(p.values), first(p.valueSizes), p.count())
	if ptr == nil {
		return nil, errNoResult
	}
	i := &Insert{lib: c.lib, ptr: ptr}
	if err := i.failure(); err != nil {
		i.Close()
		return nil, err
	}
	return i, nil
}

// Insert is a running INSERT.
type Insert struct {
	lib *Library
	ptr unsafe.Pointer
}

func (i *Insert) failure() error {
	if text := i.lib.fn.insertError(i.ptr); text != "" {
		return toError(text)
	}
	return nil
}

// Append hands over a piece of the data, cut anywhere; the library copies it.
// It blocks while the engine is behind. The error is an *Error.
func (i *Insert) Append(p []byte) error {
	if len(p) == 0 || i.lib.fn.insertAppend(i.ptr, first(p), uintptr(len(p))) == 0 {
		return nil
	}
	if err := i.failure(); err != nil {
		return err
	}
	return errors.New("the engine stopped reading the insert")
}

// Done ends the data and waits until it is stored.
func (i *Insert) Done() (Stats, error) {
	r, err := i.lib.take(i.lib.fn.insertDone(i.ptr))
	if err != nil {
		return Stats{}, err
	}
	defer r.Close()
	return r.Stats(), nil
}

// Close frees the insert. Without Done before it the insert is cancelled:
// what is not yet a whole block is not stored.
func (i *Insert) Close() {
	if i.ptr != nil {
		i.lib.fn.insertDestroy(i.ptr)
		i.ptr = nil
	}
}
