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

// partsOf is where the parts of all servers are told.
func partsOf(cluster string) string {
	if cluster == "" {
		return "system.parts"
	}
	return "clusterAllReplicas('" + cluster + "', system.parts)"
}
