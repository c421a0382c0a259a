package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/query/api"
)

const problemType = "application/problem+json"

// problemError is an error that the client may read.
type problemError struct{ api.Problem }

// Error gives the detail.
func (p *problemError) Error() string { return p.Detail }

func newProblem(status int, detail string) *problemError {
	return &problemError{api.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}}
}

// badParameter is a 400 that names the parameter and says what would be right.
func badParameter(name, format string, args ...any) *problemError {
	p := newProblem(http.StatusBadRequest, name+" "+fmt.Sprintf(format, args...))
	p.Parameter = name
	return p
}

// problemOf maps an error to the answer it gets: the one place where transport
// and errors meet. hidden says that the cause belongs in the log only.
func problemOf(err error) (p *problemError, hidden bool) {
	switch {
	case errors.As(err, &p):
		return p, false
	case errors.Is(err, ErrNotFound):
		return newProblem(http.StatusNotFound, "there is nothing under this id; it may have expired, or its spans have not arrived yet"), false
	case errors.Is(err, ErrUnavailable):
		return newProblem(http.StatusServiceUnavailable, "the store cannot answer now; try again in a moment"), true
	case errors.Is(err, context.DeadlineExceeded):
		return newProblem(http.StatusGatewayTimeout, "the answer took too long; ask for less, by time or with a smaller limit"), true
	default:
		return newProblem(http.StatusInternalServerError, "the request failed; the server's log has the cause under the request id"), true
	}
}

// fail answers with the problem of the error. Where an answer has already begun
// it cuts the connection instead, so that the client sees that it is incomplete.
func (s *Server) fail(c *gin.Context, err error) {
	if c.Request.Context().Err() != nil && errors.Is(err, context.Canceled) {
		panic(http.ErrAbortHandler) // the client has gone, or the server stops
	}
	p, hidden := problemOf(err)
	if hidden {
		s.log.Error("request failed", zap.String("request_id", requestID(c)), zap.String("route", route(c)), zap.Error(err))
	}
	if c.Writer.Written() {
		panic(http.ErrAbortHandler)
	}
	writeProblem(c, p)
}

// writeProblem answers with a copy of the problem and stops the chain.
func writeProblem(c *gin.Context, p *problemError) {
	out := p.Problem
	out.RequestID = requestID(c)
	if out.Status == http.StatusServiceUnavailable {
		c.Header("Retry-After", "1")
	}
	body, err := json.Marshal(out)
	if err != nil {
		body = []byte(`{"type":"about:blank","title":"Internal Server Error","status":500,"detail":""}`) // cannot happen: strings and integers
	}
	c.Abort()
	c.Data(out.Status, problemType, append(body, '\n'))
}
