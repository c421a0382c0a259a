package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
)

// heldUntil is when rows that a hold keeps expire, Unix seconds: the beginning
// of 2106, the last year that the column knows. The statements have it as
// toDateTime(4291747200, 'UTC'), and its week as the partition '2105-12-28'
// (docs/adr/010).
const heldUntil = 4291747200

// dataTable is a table that holds what a run is or what follows from it.
type dataTable struct {
	name string
	by   string // the column that tells to whom a row belongs: unit or run
	key  string // what tells rows apart, versions included
}

// dataTables are all of them, in the order in which rows are copied: what is
// referred to comes first.
var dataTables = []dataTable{
	{"messages", "unit", "unit, hash"},
	{"message_facts", "unit", "unit, hash, erased"},
	{"log_content", "unit", "trace_id, span_id, position, output, hash"},
	{"unit_keys", "unit", "token, started_at, unit, role, service"},
	{"steps", "unit", "unit, started_at, trace_id, span_id, received_at, erased"},
	{"attempts", "unit", "unit, started_at, trace_id, span_id, part, call_id, version"},
	{"acts", "unit", "target, started_at, trace_id, span_id, part, version"},
	{"run_links", "unit", "unit, run, version"},
	{"findings", "run", "run, id, version"},
	{"resolutions", "unit", "finding, resolved_at, id"},
	{"runs", "run", "run, version"},
}

// of puts a table's constants into a statement.
func (s statement) of(t dataTable) string {
	also := ""
	if t.name == "steps" { // what the copy says of its bodies, which are copied while they are there
		also = ", if(content_expires_at > now(), toDateTime(4291747200, 'UTC'), content_expires_at) AS content_expires_at"
	}
	return strings.NewReplacer("/* table */", t.name, "/* by */", t.by, "/* key */", t.key, "/* also */", also).Replace(string(s))
}

// notDeduplicated: an INSERT … SELECT that gives the same rows as one before it
// writes them nevertheless, since a hold may have ended in between.
var notDeduplicated = settings{"insert_deduplicate": 0}

// CopyHeld copies the rows of units and runs to where they do not expire, and
// gives how many. It may be repeated: what stands there already is left out.
func (s *Store) CopyHeld(ctx context.Context, tenant string, units, runs []string) (rows int64, err error) {
	r := s.Tenant(tenant)
	for _, t := range dataTables {
		err := chunks(dedup(t.names(units, runs)), func(part []string) error {
			n, err := r.count(ctx, sqlHeldMissing.of(t), r.params().texts("names", part))
			if err != nil || n == 0 {
				return err
			}
			rows += n
			return s.exec(ctx, sqlHeldCopy.of(t), r.params().texts("names", part), notDeduplicated)
		})
		if err != nil {
			return rows, fmt.Errorf("copy held rows of %s: %w", t.name, err)
		}
	}
	return rows, nil
}

// DropHeld deletes the copies of units and runs that no hold covers any more.
func (s *Store) DropHeld(ctx context.Context, tenant string, units, runs []string) error {
	r := s.Tenant(tenant)
	for _, t := range dataTables {
		err := chunks(dedup(t.names(units, runs)), func(part []string) error {
			p := r.params().texts("names", part)
			n, err := r.count(ctx, sqlHeldCount.of(t), p)
			if err != nil || n == 0 {
				return err
			}
			return s.exec(ctx, sqlHeldDrop.of(t), p, waitMutation)
		})
		if err != nil {
			return fmt.Errorf("drop held rows of %s: %w", t.name, err)
		}
	}
	return nil
}

// names are those by which a table knows the rows.
func (t dataTable) names(units, runs []string) []string {
	if t.by == "run" {
		return runs
	}
	return units
}

// expiryOf is when the last span of a run expires by the policy, Unix seconds.
// A copy that a hold keeps counts only where nothing else is left.
func expiryOf(spans []*agent.Step) int64 {
	var last int64
	held := false
	for _, s := range spans {
		if s.Expires >= heldUntil {
			held = true
			continue
		}
		last = max(last, s.Expires)
	}
	if last == 0 && held {
		return heldUntil
	}
	return last
}
