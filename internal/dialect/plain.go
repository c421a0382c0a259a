package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// httpSpan reads HTTP spans: evidence for the call above them. Old names were
// renamed before.
func httpSpan(_ ptrace.Span, _ *look, st *canon.Stated) { st.Op = agent.OpHTTP }

// database reads database spans: no step, but their operation shows whether the
// tool above them changes something.
func database(_ ptrace.Span, l *look, st *canon.Stated) { st.Effect = effectOf(l.database) }

// rpc reads RPC spans: kept, no step. Nothing in their names tells a read from a
// change.
func rpc(ptrace.Span, *look, *canon.Stated) {}

// effectOf reads a database operation, of SQL and of the common key-value and
// document stores.
func effectOf(operation string) agent.Effect {
	if i := strings.IndexByte(operation, ' '); i >= 0 {
		operation = operation[:i]
	}
	switch strings.ToUpper(operation) {
	case "SELECT", "SHOW", "DESCRIBE", "EXPLAIN", "FIND", "FINDONE", "GET", "MGET", "HGET", "HGETALL", "SCAN", "QUERY", "COUNT",
		"AGGREGATE", "DISTINCT", "EXISTS", "SEARCH", "LIST", "KEYS":
		return agent.EffectReadOnly
	case "INSERT", "UPDATE", "DELETE", "UPSERT", "MERGE", "REPLACE", "CREATE", "ALTER", "DROP", "TRUNCATE", "SET", "HSET", "DEL", "INCR",
		"PUT", "INSERTONE", "INSERTMANY", "UPDATEONE", "UPDATEMANY", "DELETEONE", "DELETEMANY", "LPUSH", "RPUSH", "SADD", "EXPIRE":
		return agent.EffectMutating
	}
	return agent.EffectUnset
}
