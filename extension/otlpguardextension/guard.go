package otlpguardextension

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensionmiddleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/steptrail/steptrail/internal/meter"
)

const scopeName = "github.com/steptrail/steptrail/extension/otlpguardextension"

// lookBytes is how much of a body is looked at. What the items of a request are
// shows in the fields of the first one, which stand before its long values.
const lookBytes = 16 << 10

// The reasons under which refused requests are counted.
const (
	reasonSignal      = "other_signal"
	reasonTooLarge    = "too_large"
	reasonTooDeep     = "too_deep"
	reasonUndecodable = "undecodable"
)

// described are all metrics of the extension.
var described = []meter.Metric{{
	Name: "steptrail_otlp_refused", Kind: meter.Counter, Unit: "{request}", Labels: []string{"reason"},
	Description: "OTLP/HTTP requests that were refused whole, by reason.",
}}

// guard is the extension. It keeps no state of a request and may serve many at
// once.
type guard struct {
	component.StartFunc
	component.ShutdownFunc

	log     *zap.Logger
	refused metric.Int64Counter
	said    map[string]*sync.Once // by reason
	readers sync.Pool             // of *bufio.Reader
}

var (
	_ extension.Extension            = (*guard)(nil)
	_ extensionmiddleware.HTTPServer = (*guard)(nil)
)

func newGuard(set extension.Settings) (*guard, error) {
	m := meter.New(set.MeterProvider, scopeName, described)
	refused := m.Counter("steptrail_otlp_refused")
	if err := m.Err(); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	for _, reason := range []string{reasonSignal, reasonTooLarge, reasonTooDeep, reasonUndecodable} {
		refused.Add(context.Background(), 0, metric.WithAttributes(attribute.String("reason", reason)))
	}
	return &guard{
		log: set.Logger, refused: refused,
		said:    map[string]*sync.Once{reasonSignal: {}, reasonTooLarge: {}, reasonTooDeep: {}, reasonUndecodable: {}},
		readers: sync.Pool{New: func() any { return bufio.NewReaderSize(nil, lookBytes) }},
	}, nil
}

// GetHTTPHandler implements extensionmiddleware.HTTPServer.
func (g *guard) GetHTTPHandler(context.Context) (extensionmiddleware.WrapHTTPHandlerFunc, error) {
	return func(_ context.Context, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, next) }), nil //nolint:contextcheck // serve takes the request's own
	}, nil
}

// serve refuses the body of another signal and has the receiver answer all else.
func (g *guard) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isProto := mediaType == "application/x-protobuf"
	if r.Method != http.MethodPost || (!isProto && mediaType != "application/json") {
		next.ServeHTTP(w, r)
		return
	}
	buffered := g.readers.Get().(*bufio.Reader) //nolint:forcetypeassert // the pool's own
	defer g.readers.Put(buffered)
	defer buffered.Reset(nil) // no body is held beyond its request
	body := &limitedBody{ReadCloser: r.Body, isJSON: !isProto}
	buffered.Reset(body)

	out := &answer{ResponseWriter: w, guard: g, request: r, isProto: isProto, body: body}
	if own := signalOfPath(r.URL.Path); own != signalNone {
		head, err := buffered.Peek(lookBytes)
		if sent := signalOf(head, isProto, !errors.Is(err, io.EOF), own); sent != signalNone && sent != own {
			out.refuse(reasonSignal, http.StatusBadRequest, fmt.Sprintf("this body holds OTLP %s, and %s takes %s: send it to %s",
				sent, own.path(), own, sent.path()))
			return
		}
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{buffered, body}
	next.ServeHTTP(out, r)
}

// limitedBody remembers that a body passed a limit: the size, at which the reader
// below stops, or the nesting, at which it stops by itself. The receiver bounds
// the nesting of protobuf but not of JSON, where 64 MiB of brackets take 15 s.
type limitedBody struct {
	io.ReadCloser
	isJSON  bool
	nesting nesting
	size    int64 // the limit that was passed, 0 for none
	deep    bool
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.deep {
		return 0, errTooDeep
	}
	n, err := b.ReadCloser.Read(p)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		b.size = tooLarge.Limit
	}
	if b.isJSON && !b.nesting.take(p[:n]) {
		b.deep = true
		return 0, errTooDeep
	}
	return n, err
}

var errTooDeep = errors.New("nested too deep")

// maxNesting is how deep a JSON body may be nested. Ten levels are OTLP's own, and
// a structured value takes two or three for each of its own.
const maxNesting = 1024

// nesting follows the brackets of JSON that comes in pieces.
type nesting struct {
	depth             int
	inString, escaped bool
}

// take reads the next piece and tells whether it stays within maxNesting.
func (s *nesting) take(piece []byte) bool {
	for _, c := range piece {
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			switch c {
			case '\\':
				s.escaped = true
			case '"':
				s.inString = false
			}
		case c == '"':
			s.inString = true
		case c == '{' || c == '[':
			if s.depth++; s.depth > maxNesting {
				return false
			}
		case c == '}' || c == ']':
			s.depth--
		}
	}
	return true
}

// answer is the writer that the receiver gets: where the body passed a limit, its
// 400 becomes an answer that says so.
type answer struct {
	http.ResponseWriter
	guard   *guard
	request *http.Request
	isProto bool
	body    *limitedBody
	mute    bool // what the receiver writes is not sent
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) WriteHeader(code int) {
	switch {
	case a.mute:
	case code == http.StatusBadRequest && a.body.deep:
		a.mute = true
		a.refuse(reasonTooDeep, code, fmt.Sprintf("the body is nested deeper than %d levels", maxNesting))
	case code == http.StatusBadRequest && a.body.size > 0:
		a.mute = true
		a.refuse(reasonTooLarge, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the body is larger than %d bytes, by its size after decompression: send smaller batches", a.body.size))
	default:
		if code == http.StatusBadRequest {
			a.guard.count(a.request.Context(), reasonUndecodable, a.request.URL.Path)
		}
		a.ResponseWriter.WriteHeader(code)
	}
}

func (a *answer) Write(p []byte) (int, error) {
	if a.mute {
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}

// refuse answers with a google.rpc.Status in the encoding of the request, as
// OTLP/HTTP wants it.
func (a *answer) refuse(reason string, code int, message string) {
	a.guard.count(a.request.Context(), reason, a.request.URL.Path)
	st := status.New(codes.InvalidArgument, message).Proto()
	marshal, contentType := protojson.Marshal, "application/json"
	if a.isProto {
		marshal, contentType = proto.Marshal, "application/x-protobuf"
	}
	text, err := marshal(st)
	if err != nil { // cannot be: the message is valid UTF-8 of ours
		code, text = http.StatusInternalServerError, nil
	}
	a.Header().Set("Content-Type", contentType)
	a.ResponseWriter.WriteHeader(code)
	_, _ = a.ResponseWriter.Write(text) // the sender has gone
}

// count counts a refused request, and says the first of each reason in the log.
func (g *guard) count(ctx context.Context, reason, urlPath string) {
	g.refused.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", reason)))
	g.said[reason].Do(func() {
		g.log.Warn("an OTLP request was refused; more of this kind are only counted (steptrail_otlp_refused)",
			zap.String("reason", reason), zap.String("path", urlPath))
	})
}

// signalOfPath is what a path takes, by its last element: the receiver's paths
// may be configured, but end so by default.
func signalOfPath(urlPath string) signal {
	for s := signalTraces; s <= signalProfiles; s++ {
		if path.Base(urlPath) == s.String() {
			return s
		}
	}
	return signalNone
}
