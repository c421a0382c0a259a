// Package chhttp serves ClickHouse's HTTP interface on the embedded engine, as
// far as clickhouse-go in HTTP mode (and curl) speak it: statements, parameters,
// settings, inserts, compression, exceptions with their codes.
//
// It does not know processes, sockets or files: it is given a library and a way
// to connect. Each request has a connection of its own, so that no setting,
// database, temporary table or abandoned result can reach the next one.
//
// request → sqltext.Parse → chdb connection → Query, Stream or Insert → reply.
package chhttp

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/steptrail/steptrail/internal/engine/chdb"
)

// SecretHeader carries Config.Secret in each request.
const SecretHeader = "X-Steptrail-Engine-Secret"

// Config of a Server.
type Config struct {
	// Library is the loaded engine.
	Library *chdb.Library
	// Connect opens a connection to the one data directory.
	Connect func() (*chdb.Conn, error)
	// Secret, where not empty, must come with each request. It stands for the
	// file mode of a socket where there is none.
	Secret string
	// MaxConcurrent bounds the statements that run at once; more wait.
	MaxConcurrent int
	// MaxQueryBytes bounds the text of a statement.
	MaxQueryBytes int64
	// MaxInsertBytes bounds the data of an INSERT after decompression.
	MaxInsertBytes int64
}

// Server is the http.Handler. It is safe for concurrent use.
type Server struct {
	cfg      Config
	slots    chan struct{} // a place for each statement that may run
	admin    *admin
	settings map[string]bool // the names that the engine knows
	hello    serverHello
}

// New opens the connection for administration and asks the engine for its
// version and the names of its settings.
func New(cfg Config) (*Server, error) {
	conn, err := cfg.Connect()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, slots: make(chan struct{}, cfg.MaxConcurrent), admin: newAdmin(conn)}
	if s.hello, err = s.admin.hello(); err != nil {
		s.admin.close()
		return nil, err
	}
	if s.settings, err = s.admin.settingNames(); err != nil {
		s.admin.close()
		return nil, err
	}
	return s, nil
}

// Version of the engine, as in SELECT version().
func (s *Server) Version() string { return s.hello.version }

// Close kills what runs, waits for it and closes the connection for
// administration. No request may come after it.
func (s *Server) Close() {
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() { // ends when stop is closed, a few lines below
		defer close(stopped)
		for {
			s.admin.killAll()
			select {
			case <-stop:
				return
			case <-time.After(killEvery):
			}
		}
	}()
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
	close(stop)
	<-stopped
	s.admin.close()
}

// ServeHTTP answers GET /ping (the process lives), GET /health (the engine
// answers) and POST / (a statement).
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(SecretHeader)), []byte(s.cfg.Secret)) != 1 {
		http.Error(w, "the engine's secret is missing or wrong", http.StatusForbidden)
		return
	}
	switch {
	case r.URL.Path == "/ping" && r.Method == http.MethodGet:
		_, _ = fmt.Fprintln(w, "Ok.")
	case r.URL.Path == "/health" && r.Method == http.MethodGet:
		if err := s.admin.ping(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "Ok.")
	case r.URL.Path != "/":
		http.NotFound(w, r)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "send statements with POST", http.StatusMethodNotAllowed)
	default:
		s.serveStatement(w, r)
	}
}

func (s *Server) serveStatement(w http.ResponseWriter, r *http.Request) {
	reply := newReply(w, r.URL.Query())
	defer reply.release()
	req, err := s.parse(r)
	if err == nil {
		err = s.execute(r.Context(), req, reply)
	}
	if err != nil {
		s.drain(w, r)
		reply.fail(err, s.hello.version)
	}
}

// drainTime bounds drain.
const drainTime = 10 * time.Second

// drain reads what is left of a body that failed. A client that is still
// sending would see a broken connection instead of the exception, and send the
// same bad data again.
func (s *Server) drain(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, r.Body, 2*s.cfg.MaxInsertBytes)
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// execute runs the statement on a fresh connection, when there is a place.
func (s *Server) execute(ctx context.Context, req *request, reply *reply) error {
	if req.isHello() {
		return reply.hello(s.hello, req.protocolVersion)
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	conn, err := s.cfg.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()

	tag := newTag()
	if err := prepare(conn, tag, req); err != nil {
		return err
	}
	stop := s.admin.killOnDone(ctx, tag)
	defer stop()
	if err := s.run(conn, req, reply); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return err
	}
	return nil
}

// prepare sets up the session: our tag, the settings, the database.
func prepare(conn *chdb.Conn, tag string, req *request) error {
	var b strings.Builder
	// A server has implicit_select off: with it a misspelt statement is an
	// unknown identifier instead of a syntax error.
	b.WriteString("SET implicit_select = 0, log_comment = " + quote(tag))
	for _, setting := range req.settings {
		b.WriteString(", " + setting.Name + " = " + quote(setting.Value))
	}
	if req.database != "" {
		b.WriteString("; USE " + quoteName(req.database))
	}
	if req.readonly != "" { // last: it forbids SET
		b.WriteString("; SET readonly = " + quote(req.readonly))
	}
	result, err := conn.Query(b.String(), "Null")
	if err != nil {
		return err
	}
	result.Close()
	return nil
}

var quoter = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "`", "\\`")

func quote(s string) string     { return "'" + quoter.Replace(s) + "'" }
func quoteName(s string) string { return "`" + quoter.Replace(s) + "`" }

// exception is what a reply says of an error.
func exception(err error) (code int, text string) {
	if e, ok := errors.AsType[*chdb.Error](err); ok {
		return e.Code, e.Message
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code, e.Message
	}
	return 0, err.Error()
}
