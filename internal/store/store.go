// Package store keeps steps, messages and what was derived from them in
// ClickHouse. It is the only code that knows tables. It does not know telemetry,
// policy or how a run is derived, and it starts no goroutine.
//
//	Step, bodies, facts → Batch (columns) → Insert → tables
//	tables → Reader (one tenant), Changes and Groups (the sweep) → Input
//	Derived → WriteDerived → tables
//
// Delivery is at least once: a batch that is inserted twice leaves rows twice
// until ClickHouse merges them, so every read is by distinct row and leaves out
// what has expired. Tables and sort keys are argued in docs/adr/005 to 007.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/steptrail/steptrail/schema"
)

// DefaultDatabase is where the tables stand unless a config says otherwise.
const DefaultDatabase = "steptrail"

// Config of a Store.
type Config struct {
	// Database holds the tables; it is created by Migrate. Empty:
	// DefaultDatabase.
	Database string
	// Cluster makes Migrate create replicated tables on the cluster of this
	// name. Empty: a single server.
	Cluster string
	// Logger says what Migrate does. Nil: nothing is logged.
	Logger *slog.Logger
}

// Store is a connection to the tables. It is safe for concurrent use.
type Store struct {
	cfg    Config
	opts   *clickhouse.Options
	conn   driver.Conn
	wire   transport
	stored *storedRows
	erased erasedUnits
}

var databaseName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// Open prepares a Store on the server that opts name; it dials nothing, so the
// server may come later. opts are not changed; their database is replaced by
// the config's.
func Open(_ context.Context, opts *clickhouse.Options, cfg Config) (*Store, error) {
	if cfg.Database == "" {
		cfg.Database = DefaultDatabase
	}
	if !databaseName.MatchString(cfg.Database) {
		return nil, fmt.Errorf("database: %q is no name: want letters, digits and underscores", cfg.Database)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if _, err := schema.Migrations(cfg.Database, cfg.Cluster); err != nil {
		return nil, err
	}
	if cfg.Cluster != "" {
		opts = withClusterSettings(opts)
	}
	o := withDatabase(opts, cfg.Database)
	o.DialStrategy = dialBare
	conn, err := clickhouse.Open(o)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	s := &Store{cfg: cfg, opts: opts, conn: conn, stored: newStoredRows(storedHalf), erased: newErasedUnits()}
	if o.Protocol == clickhouse.HTTP {
		s.wire = newHTTPTransport(conn, o)
		return s, nil
	}
	if s.wire, err = newNativeTransport(o); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

// dialBare keeps a statement's settings away from the greeting of a connection
// that is opened for it: the greeting's answer depends on them.
func dialBare(ctx context.Context, id int, o *clickhouse.Options, dial clickhouse.Dial) (clickhouse.DialResult, error) {
	return clickhouse.DefaultDialStrategy(bareContext{ctx}, id, o, dial) //nolint:contextcheck // it is the same context, without values
}

// bareContext ends with another context and has none of its values.
type bareContext struct{ context.Context }

// Value implements context.Context.
func (bareContext) Value(any) any { return nil }

// withDatabase copies opts for another database.
func withDatabase(opts *clickhouse.Options, database string) *clickhouse.Options {
	o := *opts
	o.Auth.Database = database
	o.Settings = maps.Clone(opts.Settings)
	return &o
}

// Ping reports whether the server answers and has the database.
func (s *Store) Ping(ctx context.Context) error { return s.conn.Ping(ctx) }

// Close ends all connections.
func (s *Store) Close() error {
	if _, ok := s.wire.(*httpTransport); ok {
		return s.conn.Close()
	}
	return errors.Join(s.wire.close(), s.conn.Close())
}

// NewBatch gives an empty batch that leaves out messages that were stored since
// the process started.
func (s *Store) NewBatch() *Batch { return newBatch(s.stored) }
