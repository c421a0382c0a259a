package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/steptrail/steptrail/internal/store/column"
)

// nativeTransport works over the native protocol. A client has one connection
// and runs one statement at a time, so idle ones are kept.
type nativeTransport struct {
	opts     ch.Options
	hosts    []string // tried in turn until one answers
	strategy clickhouse.ConnOpenStrategy
	dialled  atomic.Uint64
	idle     chan idleClient
}

// idleClient is a connection that waits for the next statement.
type idleClient struct {
	*ch.Client
	since time.Time
}

const (
	// idleClients is how many connections are kept open for the next statement.
	idleClients = 8
	// trustIdle is how long an idle connection is believed to be there; later it
	// is asked first. A server that went away meanwhile costs no statement.
	trustIdle = time.Second
)

func newNativeTransport(o *clickhouse.Options) (*nativeTransport, error) {
	if len(o.Addr) == 0 {
		return nil, errors.New("no address")
	}
	opts := ch.Options{
		Database: o.Auth.Database, User: o.Auth.Username, Password: o.Auth.Password,
		TLS: o.TLS, DialTimeout: o.DialTimeout, ReadTimeout: ch.NoTimeout, ClientName: "steptrail",
	}
	for _, name := range slices.Sorted(maps.Keys(o.Settings)) {
		// Important: a server that does not know it says so.
		opts.Settings = append(opts.Settings, ch.Setting{Key: name, Value: fmt.Sprint(o.Settings[name]), Important: true})
	}
	if c := o.Compression; c != nil {
		switch c.Method {
		case clickhouse.CompressionLZ4:
			opts.Compression = ch.CompressionLZ4
		case clickhouse.CompressionZSTD:
			opts.Compression = ch.CompressionZSTD
		}
	}
	return &nativeTransport{
		opts: opts, hosts: slices.Clone(o.Addr), strategy: o.ConnOpenStrategy, idle: make(chan idleClient, idleClients),
	}, nil
}

func (t *nativeTransport) do(ctx context.Context, q ch.Query) error {
	c, err := t.client(ctx)
	if err != nil {
		return err
	}
	err = c.Do(ctx, q)
	if err != nil || c.IsClosed() {
		return errors.Join(err, ignoreClosed(c.Close()))
	}
	select {
	case t.idle <- idleClient{c, time.Now()}:
		return nil
	default:
		return ignoreClosed(c.Close())
	}
}

// client gives a connection to a server that answers.
func (t *nativeTransport) client(ctx context.Context) (*ch.Client, error) {
	for {
		select {
		case c := <-t.idle:
			if !c.IsClosed() && (time.Since(c.since) < trustIdle || c.Ping(ctx) == nil) {
				return c.Client, nil
			}
			_ = c.Close()
		default:
			return t.dial(ctx)
		}
	}
}

// dial tries all hosts, beginning where the strategy says. The error has the
// answer of each.
func (t *nativeTransport) dial(ctx context.Context) (*ch.Client, error) {
	n := len(t.hosts)
	first := 0
	switch t.strategy {
	case clickhouse.ConnOpenRoundRobin:
		first = int((t.dialled.Add(1) - 1) % uint64(n))
	case clickhouse.ConnOpenRandom:
		first = rand.IntN(n) //nolint:gosec // no secret
	case clickhouse.ConnOpenInOrder:
	}
	var errs []error
	for i := range n {
		opts := t.opts
		opts.Address = t.hosts[(first+i)%n]
		c, err := ch.Dial(ctx, opts)
		if err == nil {
			return c, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", opts.Address, err))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

func ignoreClosed(err error) error {
	if errors.Is(err, ch.ErrClosed) {
		return nil
	}
	return err
}

func (t *nativeTransport) insert(ctx context.Context, into string, set *column.Set, token string) error {
	q := ch.Query{Body: into + " VALUES", Input: set.Input(), Settings: []ch.Setting{{Key: "async_insert", Value: "0"}}}
	if token != "" {
		q.Settings = append(q.Settings, ch.Setting{Key: "insert_deduplication_token", Value: token, Important: true})
	}
	return t.do(ctx, q)
}

func (t *nativeTransport) query(ctx context.Context, sql string, p params, out *column.Set, each func() error) error {
	q := ch.Query{
		Body: sql, Result: out.Results(), Parameters: quoted(p),
		Settings: []ch.Setting{ch.SettingInt("max_execution_time", readSeconds)},
		OnResult: func(context.Context, proto.Block) error {
			if out.Rows() == 0 {
				return nil
			}
			return each()
		},
	}
	return t.do(ctx, q)
}

// quoted gives parameters as the native protocol carries them: as quoted
// literals.
func quoted(p params) []proto.Parameter {
	out := make([]proto.Parameter, 0, len(p))
	for name, value := range p {
		out = append(out, proto.Parameter{Key: name, Value: "'" + escapeQuoted.Replace(value) + "'"})
	}
	return out
}

func (t *nativeTransport) close() error {
	for {
		select {
		case c := <-t.idle:
			_ = c.Close()
		default:
			return nil
		}
	}
}
