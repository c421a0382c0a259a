package store

import (
	"context"
	"fmt"

	"github.com/steptrail/steptrail/internal/store/column"
	"github.com/steptrail/steptrail/schema"
)

// Due is what of a table expires in a week.
type Due struct {
	Table  string
	Tenant string
	Class  string // of steps and attempts their kind, else what term they follow; empty: with their run or step
	Week   string // the Monday of the week: the partition
	First  int64  // Unix seconds, when the first of the rows expires
	Last   int64  // when the last does; with it the files go
	Held   bool   // a hold keeps them
	Rows   int64
	Bytes  int64 // on disk, of the partition, by the share of its rows
}

// classes are the tables with a time limit and what tells the term of their rows.
var classes = []dataTable{
	{name: "steps", by: "kind"},
	{name: "attempts", by: "kind"},
	{name: "acts", by: "kind"},
	{name: "messages", by: "'content'"},
	{name: "findings", by: "'findings'"},
	{name: "access_log", by: "'access_log'"},
	{name: "message_facts", by: "''"},
	{name: "log_content", by: "''"},
	{name: "unit_keys", by: "''"},
	{name: "run_links", by: "''"},
	{name: "runs", by: "''"},
	{name: "resolutions", by: "''"},
}

// Retention says what will expire when, by table, week, tenant and class.
func (s *Store) Retention(ctx context.Context) ([]Due, error) {
	type place struct{ table, week string }
	type size struct{ rows, bytes uint64 }
	sizes := map[place]size{}
	names := make([]string, len(classes))
	for i, t := range classes {
		names[i] = t.name
	}
	var parts column.Set
	table, partition := column.Add(&parts, "table", column.NewString()), column.Add(&parts, "partition", column.NewString())
	rows, bytes := column.Add(&parts, "row_count", &column.UInt64{}), column.Add(&parts, "bytes", &column.UInt64{})
	err := s.wire.query(ctx, partsOf(sqlRetentionParts, s.cfg.Cluster, oneReplica), params{}.texts("tables", locals(names, s.cfg.Cluster)), &parts, func() error {
		for i := range parts.Rows() {
			sizes[place{schema.Front(table.Row(i), s.cfg.Cluster), partition.Row(i)}] = size{rows.Row(i), bytes.Row(i)}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sizes of partitions: %w", err)
	}
	var out []Due
	for _, t := range classes {
		var set column.Set
		week, tenant := column.Add(&set, "week", column.NewString()), column.Add(&set, "tenant", column.NewDict())
		class, n := column.Add(&set, "class", column.NewString()), column.Add(&set, "rows", &column.UInt64{})
		first, last := column.Add(&set, "first_due", &column.Int64{}), column.Add(&set, "last_due", &column.Int64{})
		err := s.wire.query(ctx, sqlRetentionRows.of(t), nil, &set, func() error {
			for i := range set.Rows() {
				d := Due{
					Table: t.name, Tenant: tenant.Row(i), Class: class.Row(i), Week: week.Row(i), First: first.Row(i), Last: last.Row(i),
					Held: last.Row(i) >= heldUntil, Rows: int64(n.Row(i)), // a number of rows
				}
				if of := sizes[place{t.name, d.Week}]; of.rows > 0 {
					d.Bytes = int64(float64(of.bytes) * float64(d.Rows) / float64(of.rows))
				}
				out = append(out, d)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("rows of %s: %w", t.name, err)
		}
	}
	return out, nil
}
