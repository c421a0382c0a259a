package chhttp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/steptrail/steptrail/internal/engine/chdb"
	"github.com/steptrail/steptrail/internal/engine/sqltext"
)

// Codes of ClickHouse for errors of the request itself.
const (
	codeBadArguments    = 36
	codeUnknownSetting  = 115
	codeTooLarge        = 307 // TOO_MANY_BYTES
	codeNotImplemented  = 48
	codeUnknownInternal = 1002
)

// Error is an error of the request, worded and numbered as a server's would be.
type Error = sqltext.Error

func badRequest(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// helloText is the first statement of each connection of clickhouse-go.
const helloText = "SELECT displayName(), version(), revision(), timezone()"

// request is a statement with all that belongs to it.
type request struct {
	statement       sqltext.Statement
	database        string
	format          string // of the result, where the statement names none
	protocolVersion uint64
	params          []chdb.Param
	settings        []chdb.Param
	readonly        string    // the setting of that name, applied after the others
	data            io.Reader // of an INSERT; nil for other statements
}

func (r *request) isHello() bool {
	return r.protocolVersion > 0 && strings.TrimSpace(r.statement.Text) == helloText
}

// transport names the URL parameters that are neither settings nor statement
// parameters. Those that only tune a server's transport are ignored.
var transport = []string{
	"query", "database", "default_format", "client_protocol_version", "compress", "decompress", "query_id", "quota_key",
	"session_timeout", "session_check", "wait_end_of_query", "buffer_size", "stacktrace", "user", "password", "readonly",
	"log_comment", "send_progress_in_http_headers", "enable_http_compression",
}

var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parse reads a request. Of the body it reads what is text of the statement;
// the data of an INSERT is left to be streamed.
func (s *Server) parse(r *http.Request) (*request, error) {
	values := r.URL.Query()
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return nil, badRequest(codeNotImplemented, "external tables are not supported")
	}
	req := &request{database: values.Get("database"), format: values.Get("default_format")}
	if req.format == "" {
		req.format = "TabSeparated"
	}
	req.protocolVersion, _ = strconv.ParseUint(values.Get("client_protocol_version"), 10, 64)
	if err := s.parseValues(values, req); err != nil {
		return nil, err
	}
	body, err := decode(r, values.Get("decompress") == "1")
	if err != nil {
		return nil, err
	}
	return req, s.parseStatement(req, values.Get("query"), body)
}

// parseValues sorts URL parameters into parameters of the statement and
// settings, in the order of their names.
func (s *Server) parseValues(values url.Values, req *request) error {
	req.readonly = values.Get("readonly")
	if req.readonly == "0" {
		req.readonly = ""
	}
	for name := range values {
		value := values.Get(name)
		if param, ok := strings.CutPrefix(name, "param_"); ok {
			if !namePattern.MatchString(param) {
				return badRequest(codeBadArguments, "bad name of a parameter: %q", param)
			}
			req.params = append(req.params, chdb.Param{Name: param, Value: value})
			continue
		}
		switch {
		case slices.Contains(transport, name):
		case name == "session_id":
			return badRequest(codeNotImplemented, "sessions are not supported: each request has its own")
		case !s.settings[name]:
			return badRequest(codeUnknownSetting, "Setting %s is neither a builtin setting nor started with the prefix 'SQL_' registered for user-defined settings", name)
		case name == "implicit_select":
			return badRequest(codeBadArguments, "the setting implicit_select cannot be changed")
		default:
			req.settings = append(req.settings, chdb.Param{Name: name, Value: value})
		}
	}
	byName := func(a, b chdb.Param) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(req.params, byName)
	slices.SortFunc(req.settings, byName)
	return nil
}

// parseStatement reads the text and finds the data of an INSERT: in the body
// behind the text, or in the body alone where the text came in the URL.
func (s *Server) parseStatement(req *request, text string, body io.Reader) (err error) {
	inURL := text != ""
	if !inURL {
		b, err := readBounded(body, s.cfg.MaxQueryBytes)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if req.statement, err = sqltext.Parse(text); err != nil {
		return err
	}
	if req.statement.Kind == sqltext.InsertData {
		req.data = io.MultiReader(strings.NewReader(req.statement.Data), limit(body, s.cfg.MaxInsertBytes))
		return nil
	}
	if inURL {
		if b, err := readBounded(body, s.cfg.MaxQueryBytes); err != nil {
			return err
		} else if len(b) > 0 {
			return badRequest(codeBadArguments, "a body is only taken with an INSERT where the query is in the URL")
		}
	}
	return nil
}

// readBounded reads all of r, which must hold no more than most bytes.
func readBounded(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(limit(r, most))
	if err != nil {
		return nil, bodyError(err)
	}
	return b, nil
}

// bodyError keeps errors of our own and gives others a code.
func bodyError(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return badRequest(codeCannotReadAll, "Cannot read all data of the request: %s", err)
}

// codeCannotReadAll is CANNOT_READ_ALL_DATA.
const codeCannotReadAll = 33
