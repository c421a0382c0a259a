package query

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/query/api"
)

// Timing is what the policy says of time.
type Timing struct {
	Quiet    time.Duration // nothing new for so long: the run is quiet
	InFlight time.Duration // nothing new for so long: nothing more is awaited at all
	// StallAfter is the wall-time limit of the runs of an agent and task type.
	StallAfter func(agent, taskType string) time.Duration
}

// Options of a Server. Reader, Ready, Timing, Registry and Log are required.
type Options struct {
	// Reader gives the history of a tenant, or ErrUnavailable.
	Reader func(tenant string) (Reader, error)
	// Ready is nil once requests can be answered. Its error is shown to clients.
	Ready func() error
	// Timing as the policy decides.
	Timing Timing
	// Policy says what an unknown outcome asks for, and when it is overdue; nil:
	// never, and only what the spans carry of it is known.
	Policy *policy.Policy
	// Redaction is the policy's; nil: nothing is redacted.
	Redaction Redaction
	// Kinds are those of the findings that there can be, the policy's own rules as
	// rule; a filter by another one is refused. Empty: any is let through.
	Kinds []string
	// HostAllowed says whether a request's Host header (with its port) names
	// this server; nil allows every name.
	HostAllowed func(host string) bool
	// RequestTimeout bounds a request that is answered at once; 30 s if zero.
	RequestTimeout time.Duration
	// HistoryTimeout bounds a history, which is streamed; 10 min if zero.
	HistoryTimeout time.Duration
	// MaxRequests is the number of API requests answered at once; 32 if zero.
	// Others wait up to RequestTimeout for their turn.
	MaxRequests int
	// Registry gets the server's metrics and is served under /metrics.
	Registry *prometheus.Registry
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	Log *zap.Logger
}

// Server answers the API's requests. It is an http.Handler, safe for concurrent
// use. It writes the access log in the background; Close ends that.
type Server struct {
	opts    Options
	log     *zap.Logger
	engine  *gin.Engine
	metrics *metrics
	turns   chan struct{} // one token per API request being answered
	fresh   freshRuns

	settling chan struct{} // one token: who settles an unknown outcome
	accesses *accessLog
}

var (
	_ http.Handler              = (*Server)(nil)
	_ api.StrictServerInterface = (*Server)(nil)
)

// New makes a Server and registers its metrics.
func New(opts Options) (*Server, error) {
	if opts.Reader == nil || opts.Ready == nil || opts.Timing.StallAfter == nil || opts.Registry == nil || opts.Log == nil {
		return nil, errors.New("query: Reader, Ready, Timing, Registry and Log are required")
	}
	if opts.RequestTimeout <= 0 {
		opts.RequestTimeout = 30 * time.Second
	}
	if opts.HistoryTimeout <= 0 {
		opts.HistoryTimeout = 10 * time.Minute
	}
	if opts.MaxRequests <= 0 {
		opts.MaxRequests = 32
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	m, err := newMetrics(opts.Registry)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, log: opts.Log, metrics: m, turns: make(chan struct{}, opts.MaxRequests), settling: make(chan struct{}, 1)}
	s.accesses = s.newAccessLog()
	s.engine = s.routes()
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.engine.ServeHTTP(w, r) }

func (s *Server) routes() *gin.Engine {
	gin.SetMode(gin.ReleaseMode) // the other modes print to standard output
	e := gin.New()
	// Ids hold slashes: routes are matched on the path as it was sent, and
	// checkParameters decodes the parts.
	e.UseEscapedPath, e.UnescapePathValues = true, false
	e.RedirectTrailingSlash, e.RedirectFixedPath = false, false
	e.HandleMethodNotAllowed = true
	e.Use(s.observe, s.recoverPanic, s.protect, s.checkParameters, s.checkBody)
	e.NoRoute(func(c *gin.Context) {
		s.fail(c, newProblem(http.StatusNotFound, "there is no such path; /openapi.yaml describes those there are"))
	})
	e.NoMethod(func(c *gin.Context) {
		s.fail(c, newProblem(http.StatusMethodNotAllowed, "this path answers "+c.Writer.Header().Get("Allow")+" only"))
	})

	for _, method := range []string{http.MethodGet, http.MethodHead} {
		e.Handle(method, "/healthz", func(c *gin.Context) { c.String(http.StatusOK, "ok\n") })
		e.Handle(method, "/readyz", s.ready)
	}
	e.GET("/openapi.yaml", func(c *gin.Context) { c.Data(http.StatusOK, "application/yaml", api.Description) })
	e.GET("/metrics", gin.WrapH(promhttp.HandlerFor(s.opts.Registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: s.opts.RequestTimeout})))

	strict := api.NewStrictHandlerWithOptions(s, nil, api.StrictGinServerOptions{
		RequestErrorHandlerFunc: func(c *gin.Context, _ error) {
			s.fail(c, newProblem(http.StatusBadRequest, "the request cannot be read"))
		},
		HandlerErrorFunc:         s.fail,
		ResponseErrorHandlerFunc: s.fail,
	})
	api.RegisterHandlersWithOptions(e.Group("", s.limit), strict, api.GinServerOptions{
		ErrorHandler: func(c *gin.Context, _ error, status int) {
			s.fail(c, newProblem(status, "the request's parameters cannot be read"))
		},
	})
	return e
}

func (s *Server) ready(c *gin.Context) {
	if err := s.opts.Ready(); err != nil {
		writeProblem(c, newProblem(http.StatusServiceUnavailable, err.Error()))
		return
	}
	c.String(http.StatusOK, "ready\n")
}

// limit bounds how long a request may take and how many are answered at once.
func (s *Server) limit(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.opts.RequestTimeout)
	defer cancel()
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		p := newProblem(http.StatusServiceUnavailable, "too many requests are being answered; try again in a moment")
		p.Limit = cap(s.turns)
		s.fail(c, p)
		return
	}
	if c.FullPath() == historyRoute {
		ctx, cancel = context.WithTimeout(c.Request.Context(), s.opts.HistoryTimeout)
		defer cancel()
	}
	ctx = context.WithValue(ctx, acceptKey{}, c.GetHeader("Accept"))
	ctx = context.WithValue(ctx, callerKey{}, callerOf(c))
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// acceptKey is the context key of the request's Accept header, which generated
// request objects do not carry.
type acceptKey struct{}

// requestContext gives the context of the request itself. The generated code
// passes gin's, which is used again for another request while what was derived
// from it (a connection to the store) may still look at it.
func requestContext(ctx context.Context) context.Context {
	if c, ok := ctx.(*gin.Context); ok {
		return c.Request.Context()
	}
	return ctx
}

// reader gives the reader of the caller's tenant: the one place that binds a
// request to a tenant.
func (s *Server) reader(ctx context.Context) (Reader, error) {
	if _, pooled := ctx.(*gin.Context); pooled {
		panic("BUG: a handler works under gin's context")
	}
	return s.opts.Reader(identityOf(ctx).Tenant)
}

// Identity is who asks.
type Identity struct {
	Tenant string
	Role   Role
}

// Role is what a caller may see and do.
type Role string

// RoleAdmin may do everything.
const RoleAdmin Role = "admin"

// DefaultTenant is everybody's tenant where no tokens are configured.
const DefaultTenant = "default"

// identityOf says who asks. Without tokens everybody is the administrator of
// the one tenant.
func identityOf(context.Context) Identity { return Identity{Tenant: DefaultTenant, Role: RoleAdmin} }
