package store

import (
	"context"
	"maps"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/clickhouse-go/v2"
)

// settings of one statement; all are numbers.
type settings map[string]int

// waitMutation makes a statement that deletes or changes rows return once the
// parts are rewritten, on every replica.
var waitMutation = settings{"mutations_sync": 2}

// exec runs a statement that answers with nothing: INSERT … SELECT, ALTER. In a
// cluster an ALTER goes to the tables behind the front, on all servers.
func (s *Store) exec(ctx context.Context, sql string, p params, set settings) error {
	return s.wire.exec(ctx, onCluster(sql, s.cfg.Cluster), p, set)
}

func (t *httpTransport) exec(ctx context.Context, sql string, p params, set settings) error {
	all := make(clickhouse.Settings, len(set))
	for name, v := range set {
		all[name] = v
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters(maps.Clone(p))), clickhouse.WithSettings(all))
	return t.conn.Exec(ctx, sql)
}

func (t *nativeTransport) exec(ctx context.Context, sql string, p params, set settings) error {
	q := ch.Query{Body: sql, Parameters: quoted(p)}
	for name, v := range set {
		q.Settings = append(q.Settings, ch.SettingInt(name, v))
	}
	return t.do(ctx, q)
}
