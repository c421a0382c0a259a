package store

import (
	"context"
	"fmt"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// WrittenOf gives what earlier sweeps wrote of the attempts of units and of
// runs.
func (s *Store) WrittenOf(ctx context.Context, tenant string, units, runs []string) (agent.Written, error) {
	w := agent.Written{Attempts: map[agent.AttemptName]struct{}{}, Ended: map[string]struct{}{}}
	r := s.Tenant(tenant)
	var set column.Set
	unit := column.Add(&set, "unit", column.NewString())
	trace := column.Add(&set, "trace_id", &column.Bytes16{})
	span := column.Add(&set, "span_id", &column.Bytes8{})
	part := column.Add(&set, "part", &column.UInt16{})
	call := column.Add(&set, "call_id", column.NewString())
	err := chunks(dedup(units), func(some []string) error {
		return r.query(ctx, string(sqlAttemptsWritten), r.params().texts("units", some), &set, func() error {
			for i := range set.Rows() {
				n := agent.AttemptName{Unit: unit.Row(i), Trace: trace.Row(i), Span: span.Row(i), Part: part.Row(i), CallID: call.Row(i)}
				w.Attempts[n] = struct{}{}
			}
			return nil
		})
	})
	if err != nil {
		return w, fmt.Errorf("written attempts: %w", err)
	}
	var ended column.Set
	run := column.Add(&ended, "run", column.NewString())
	err = chunks(dedup(runs), func(some []string) error {
		return r.query(ctx, string(sqlRunsEnded), r.params().texts("runs", some), &ended, func() error {
			for i := range ended.Rows() {
				w.Ended[run.Row(i)] = struct{}{}
			}
			return nil
		})
	})
	if err != nil {
		return w, fmt.Errorf("ended runs: %w", err)
	}
	return w, nil
}

// OpenFindings is how many findings of one kind and severity are open.
type OpenFindings struct {
	Kind     string
	Severity agent.Severity
	Count    int64
}

// OpenFindings counts the open findings of all tenants, by the newest version of
// each, in the order of kind and severity.
func (s *Store) OpenFindings(ctx context.Context) ([]OpenFindings, error) {
	var set column.Set
	kind := column.Add(&set, "kind", column.NewString())
	severity := column.Add(&set, "severity", &column.UInt8{})
	n := column.Add(&set, "n", &column.Int64{})
	var out []OpenFindings
	err := s.wire.query(ctx, string(sqlFindingsOpen), nil, &set, func() error {
		for i := range set.Rows() {
			out = append(out, OpenFindings{Kind: kind.Row(i), Severity: agent.Severity(severity.Row(i)), Count: n.Row(i)})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open findings: %w", err)
	}
	return out, nil
}
