package store

import (
	"maps"
	"regexp"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/steptrail/steptrail/schema"
)

// clusterSettings go with every statement to a cluster; those of the DSN count
// where it names them. See docs/adr/009.
var clusterSettings = clickhouse.Settings{
	// An insert is answered once the shards have it, not once the front's server
	// has written down that they should.
	"distributed_foreground_insert": 1,
	// A subquery over a front is run once, and its result sent to the shards.
	"distributed_product_mode": "global",
	// Reads and inserts go to the same replica of a shard while it is up: the
	// sweep reads what was just written, and replicas may lag.
	"load_balancing":           "in_order",
	"prefer_localhost_replica": 0,
	// Deletions ask other tables which rows go; these do not change meanwhile.
	"allow_nondeterministic_mutations": 1,
}

// withClusterSettings copies opts with the settings of a cluster.
func withClusterSettings(opts *clickhouse.Options) *clickhouse.Options {
	o := *opts
	o.Settings = maps.Clone(clusterSettings)
	maps.Copy(o.Settings, opts.Settings)
	return &o
}

var alterTable = regexp.MustCompile(`(?m)^ALTER TABLE (\w+) `)

// onCluster has an ALTER work on what is behind the front: a front takes none.
// The text is a constant of this program.
func onCluster(sql, cluster string) string {
	if cluster == "" {
		return sql
	}
	return alterTable.ReplaceAllString(sql, "ALTER TABLE "+schema.Local("${1}", cluster)+" ON CLUSTER `"+cluster+"` ")
}

// Which servers are asked for their parts.
const (
	allReplicas = "clusterAllReplicas"
	oneReplica  = "cluster" // of each shard
)

// partsOf puts into a statement where the parts of those servers are told.
func partsOf(sql statement, cluster, of string) string {
	from := "system.parts"
	if cluster != "" {
		from = of + "('" + cluster + "', system.parts)"
	}
	return replaceAll(string(sql), "/* parts */", from)
}

// locals are the names of tables on a server.
func locals(tables []string, cluster string) []string {
	out := make([]string, len(tables))
	for i, name := range tables {
		out[i] = schema.Local(name, cluster)
	}
	return out
}
