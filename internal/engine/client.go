package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/steptrail/steptrail/internal/engine/chhttp"
)

// hostName stands in requests for the address, which only dial knows.
const hostName = "localhost"

// dialWait is how long a new connection waits for a restart.
const dialWait = 5 * time.Second

// Options for clickhouse.Open and clickhouse.OpenDB on one database; empty is
// "default". The result is the caller's to change. Connections survive a
// restart of the engine; what was under way fails with ErrUnavailable.
//
// Put tables into a database of your own: "default" shows files as tables.
func (e *Engine) Options(database string) *clickhouse.Options {
	options := &clickhouse.Options{
		Protocol: clickhouse.HTTP,
		Addr:     []string{hostName},
		Auth:     clickhouse.Auth{Database: database},
		DialContext: func(ctx context.Context, _ string) (net.Conn, error) {
			return e.dial(ctx)
		},
		TransportFunc: func(t *http.Transport) (http.RoundTripper, error) {
			t.Proxy = nil
			return &transport{t}, nil
		},
		MaxOpenConns: e.cfg.MaxConcurrent,
		MaxIdleConns: e.cfg.MaxConcurrent,
	}
	if e.host.Secret != "" {
		options.HttpHeaders = map[string]string{chhttp.SecretHeader: e.host.Secret}
	}
	return options
}

// dial connects to the child that serves, or to the next one: a child that has
// just died is not yet known to be dead.
func (e *Engine) dial(ctx context.Context) (net.Conn, error) {
	waitCtx, cancel := context.WithTimeout(ctx, dialWait)
	defer cancel()
	for {
		child, err := e.wait(waitCtx)
		if err != nil {
			return nil, err
		}
		var dialer net.Dialer
		conn, err := dialer.DialContext(waitCtx, e.host.Network, child.status.Address)
		if err == nil {
			return conn, nil
		}
		select {
		case <-child.exited:
			e.waitForNext(waitCtx, child)
		case <-waitCtx.Done():
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// waitForNext returns when child is no longer the one that serves.
func (e *Engine) waitForNext(ctx context.Context, child *process) {
	e.mu.Lock()
	current, changed := e.current, e.changed
	e.mu.Unlock()
	if current == child {
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// transport marks the errors of a broken connection as ErrUnavailable.
type transport struct{ *http.Transport }

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.Transport.RoundTrip(r)
	if err != nil {
		return nil, unavailable(r.Context(), err)
	}
	response.Body = &body{ReadCloser: response.Body, ctx: r.Context()}
	return response, nil
}

type body struct {
	io.ReadCloser
	ctx context.Context //nolint:containedctx // lives as long as the response it belongs to
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = unavailable(b.ctx, err)
	}
	return n, err
}

// unavailable leaves the end of a context as it is: that was the caller's wish.
func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
