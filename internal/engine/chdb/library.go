// Package chdb binds libchdb, the embeddable build of ClickHouse, without cgo.
//
// It knows the C functions, who owns which piece of memory, and how to keep the
// Go runtime's signal handlers alive beside the library's own. It knows nothing
// of HTTP, of processes, or of what a statement means: text goes in as given.
//
// Load once per process → Connect → Query, Stream or Insert → Close.
//
// A wrong call can take the process down, so it belongs in a child process:
// see package engine.
package chdb

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is a loaded libchdb. It cannot be unloaded. Its methods may be called
// from several goroutines.
type Library struct {
	fn      functions
	inserts bool // insert streams: 26.7 and later

	connect sync.Mutex // chdb_connect replaces signal handlers; see keepSignals
	signals *signalKeeper
}

// functions are the C entry points in use. Pointers to C memory travel as
// unsafe.Pointer: the garbage collector ignores addresses outside its heap.
type functions struct {
	setSignalHandlers func(enabled int32)
	version           func() string

	connect func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	close   func(conn unsafe.Pointer)

	query  func(h, q unsafe.Pointer, qn uintptr, f unsafe.Pointer, fn uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) unsafe.Pointer
	stream func(h, q unsafe.Pointer, qn uintptr, f unsafe.Pointer, fn uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) unsafe.Pointer
	fetch  func(h, stream unsafe.Pointer) unsafe.Pointer
	cancel func(h, stream unsafe.Pointer)

	insert        func(h, q unsafe.Pointer, qn uintptr, f unsafe.Pointer, fn uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) unsafe.Pointer
	insertAppend  func(s, data unsafe.Pointer, n uintptr) int32
	insertDone    func(s unsafe.Pointer) unsafe.Pointer
	insertError   func(s unsafe.Pointer) string
	insertCancel  func(s unsafe.Pointer)
	insertDestroy func(s unsafe.Pointer)

	destroy     func(r unsafe.Pointer)
	buffer      func(r unsafe.Pointer) unsafe.Pointer
	length      func(r unsafe.Pointer) uintptr
	failure     func(r unsafe.Pointer) string
	elapsed     func(r unsafe.Pointer) float64
	rowsRead    func(r unsafe.Pointer) uint64
	scannedRows func(r unsafe.Pointer) uint64
	rowsWritten func(r unsafe.Pointer) uint64
}

// Load opens the library at path. It fails where the file is not a libchdb, is
// older than 26.5, or is not fit for this machine (it needs glibc and
// x86-64-v2).
func Load(path string) (*Library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	l := &Library{}
	f := &l.fn
	required := map[string]any{
		"chdb_set_signal_handlers_enabled": &f.setSignalHandlers,
		"chdb_connect":                     &f.connect,
		"chdb_close_conn":                  &f.close,
		"chdb_query_with_params_n":         &f.query,
		"chdb_stream_query_with_params_n":  &f.stream,
		"chdb_stream_fetch_result":         &f.fetch,
		"chdb_stream_cancel_query":         &f.cancel,
		"chdb_destroy_query_result":        &f.destroy,
		"chdb_result_buffer":               &f.buffer,
		"chdb_result_length":               &f.length,
		"chdb_result_error":                &f.failure,
		"chdb_result_elapsed":              &f.elapsed,
		"chdb_result_rows_read":            &f.rowsRead,
		"chdb_result_storage_rows_read":    &f.scannedRows,
		"chdb_result_rows_written":         &f.rowsWritten,
	}
	if missing := bind(handle, required); len(missing) > 0 {
		return nil, fmt.Errorf("%s is no libchdb of 26.5 or later: it lacks %v", path, missing)
	}
	l.inserts = len(bind(handle, map[string]any{
		"chdb_stream_insert_with_params_n": &f.insert,
		"chdb_stream_append":               &f.insertAppend,
		"chdb_stream_done":                 &f.insertDone,
		"chdb_stream_insert_error":         &f.insertError,
		"chdb_stream_cancel_insert":        &f.insertCancel,
		"chdb_destroy_insert_stream":       &f.insertDestroy,
	})) == 0
	bind(handle, map[string]any{"chdb_version": &f.version})

	if l.signals, err = newSignalKeeper(); err != nil {
		return nil, err
	}
	l.signals.keep(func() { f.setSignalHandlers(0) })
	return l, nil
}

// bind resolves each symbol into the function variable beside it and returns
// the names that the library lacks; their variables stay nil.
func bind(handle uintptr, symbols map[string]any) (missing []string) {
	for name, fn := range symbols {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			missing = append(missing, name)
			continue
		}
		purego.RegisterFunc(fn, address)
	}
	return missing
}

// StreamsInserts reports whether Conn.Insert works; it does from 26.7 on.
func (l *Library) StreamsInserts() bool { return l.inserts }

// Version is what the library calls itself, empty before 26.7. It is the
// version of the library; that of the engine is SELECT version().
func (l *Library) Version() string {
	if l.fn.version == nil {
		return ""
	}
	return l.fn.version()
}

// Error is an exception of the engine.
type Error struct {
	Code    int    // of ClickHouse, 0 where the text names none
	Message string // the whole text, as a server would send it
}

func (e *Error) Error() string { return e.Message }

var codePattern = regexp.MustCompile(`^(?:Error: )?Code: (\d+)\.`)

// toError reads the outermost code of an exception's text.
func toError(text string) *Error {
	e := &Error{Message: text}
	if m := codePattern.FindStringSubmatch(text); m != nil {
		e.Code, _ = strconv.Atoi(m[1])
	}
	return e
}

// errNoResult stands for a nil pointer where the library promises a result.
var errNoResult = errors.New("the engine returned no result")

// cbytes is memory for C: never empty, so that its address can be taken, and
// ended by a NUL for readers that ignore the length.
func cbytes(s string) []byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return b
}

// cparams lays parameters out as four parallel C arrays.
type cparams struct {
	pin                   runtime.Pinner
	names, values         []unsafe.Pointer
	nameSizes, valueSizes []uintptr
}

func newCParams(params []Param) *cparams {
	p := &cparams{}
	for _, param := range params {
		name, value := cbytes(param.Name), cbytes(param.Value)
		p.pin.Pin(&name[0])
		p.pin.Pin(&value[0])
		p.names = append(p.names, unsafe.Pointer(&name[0]))
		p.values = append(p.values, unsafe.Pointer(&value[0]))
		p.nameSizes = append(p.nameSizes, uintptr(len(param.Name)))
		p.valueSizes = append(p.valueSizes, uintptr(len(param.Value)))
	}
	return p
}

func (p *cparams) count() uintptr { return uintptr(len(p.names)) }

func (p *cparams) release() { p.pin.Unpin() }

// first is the address of a slice's first element, nil for an empty slice.
func first[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }
