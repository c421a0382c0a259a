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
	"go.uber.org/zap"
)

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
