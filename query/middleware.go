package query

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.uber.org/zap"
)

// metrics of the server. Labels are bounded: routes are templates, methods those
// that are routed.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	panics   prometheus.Counter
	fresh    prometheus.Counter
}

func newMetrics(r *prometheus.Registry) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "steptrail_http_requests_total", Help: "Requests answered, by route, method and status.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "steptrail_http_request_duration_seconds", Help: "Time until the answer was written, by route.",
			Buckets:                     []float64{.005, .025, .1, .25, 1, 2.5, 10, 60},
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "steptrail_http_requests_in_flight", Help: "Requests being answered."}),
		panics:   prometheus.NewCounter(prometheus.CounterOpts{Name: "steptrail_http_panics_total", Help: "Requests that ended in a panic."}),
		fresh: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "steptrail_query_runs_derived_total", Help: "Runs derived for a list because they changed after their summary was written.",
		}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{
		m.requests, m.duration, m.inFlight, m.panics, m.fresh,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := r.Register(c); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return m, nil
}

// route is the template of the request's route, a label of few values.
func route(c *gin.Context) string {
	if p := c.FullPath(); p != "" {
		return p
	}
	return "none"
}

func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete:
		return method
	default:
		return "other"
	}
}

// observe counts the request, however it ends.
func (s *Server) observe(c *gin.Context) {
	start := time.Now()
	s.metrics.inFlight.Inc()
	defer func() {
		s.metrics.inFlight.Dec()
		s.metrics.duration.WithLabelValues(route(c)).Observe(time.Since(start).Seconds())
		s.metrics.requests.WithLabelValues(route(c), methodLabel(c.Request.Method), strconv.Itoa(c.Writer.Status())).Inc()
	}()
	c.Next()
}

// recoverPanic turns a panic into a 500, or cuts the connection where an answer
// has begun.
func (s *Server) recoverPanic(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler) // the server closes the connection and stays quiet
		}
		s.metrics.panics.Inc()
		s.log.Error("request panicked", zap.String("request_id", requestID(c)), zap.String("route", route(c)),
			zap.String("panic", fmt.Sprint(v)), zap.ByteString("stack", debug.Stack()))
		if c.Writer.Written() {
			panic(http.ErrAbortHandler)
		}
		p, _ := problemOf(errors.New("panic"))
		writeProblem(c, p)
	}()
	c.Next()
}

// guard turns a panic on a goroutine of our own, where recoverPanic cannot see
// it and the whole collector would end, into an error.
func (s *Server) guard(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				s.metrics.panics.Inc()
				err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			}
		}()
		return f()
	}
}

// protect refuses foreign host names and sets the headers of every answer. A
// page of another site whose name was pointed at this address (DNS rebinding)
// is told by its Host header; without CORS headers no other page reads answers.
func (s *Server) protect(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if s.opts.HostAllowed != nil && !s.opts.HostAllowed(c.Request.Host) {
		s.fail(c, newProblem(http.StatusMisdirectedRequest, "this server does not answer to the host name of the request; allowed_hosts names those it does"))
	}
}

// requestID gives the request's id, made at its first use.
func requestID(c *gin.Context) string {
	const key = "request_id"
	if id := c.GetString(key); id != "" {
		return id
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	id := hex.EncodeToString(b[:])
	c.Set(key, id)
	return id
}
