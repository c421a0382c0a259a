package agentstorageextension

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/steptrail/steptrail/internal/engine"
)

// Unavailable reports whether an error of Storage or of its store says that the
// database cannot be reached now: it is not ready, the embedded engine is
// between two lives, or the connection broke. The same question is worth
// another try later. A context that ended says nothing about the database.
func Unavailable(err error) bool {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.Is(err, ErrNotReady), errors.Is(err, engine.ErrUnavailable), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	}
	_, ok := errors.AsType[net.Error](err)
	return ok
}
