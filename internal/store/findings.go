package store

import (
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// findingTable is the columns of the findings table.
type findingTable struct {
	column.Set
	tenant                                   *column.Dict
	run                                      *column.String
	id                                       *column.Bytes16
	version                                  *column.UInt64
	kind                                     *column.Dict
	anchor                                   *column.String
	severity, status                         *column.UInt8
	step                                     *column.String
	tool, agent                              *column.Dict
	detected                                 *column.Int64
	message                                  *column.String
	units                                    *column.Array[*column.String]
	traces                                   *column.Array[*column.Bytes16]
	spans                                    *column.Array[*column.Bytes8]
	attempts                                 *column.Array[*column.Int32]
	wasteAttempts, wasteDuration, wasteToken *column.Int64
	wasteCost                                *column.Int64
	mergedInto                               *column.Bytes16
	expires                                  *column.UInt32
}

func newFindingTable() *findingTable {
	t := &findingTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.run = column.Add(s, "run", column.NewString())
	t.id = column.Add(s, "id", &column.Bytes16{})
	t.version = column.Add(s, "version", &column.UInt64{})
	t.kind = column.Add(s, "kind", column.NewDict())
	t.anchor = column.Add(s, "anchor", column.NewString())
	t.severity = column.Add(s, "severity", enum[agent.Severity]())
	t.status = column.Add(s, "status", enum[agent.Status]())
	t.step = column.Add(s, "step_id", column.NewString())
	t.tool = column.Add(s, "tool", column.NewDict())
	t.agent = column.Add(s, "agent", column.NewDict())
	t.detected = column.Add(s, "detected_at", column.NewTime())
	t.message = column.Add(s, "message", column.NewString())
	t.units = column.Add(s, "evidence_units", column.NewArray(column.NewString()))
	t.traces = column.Add(s, "evidence_traces", column.NewArray(&column.Bytes16{}))
	t.spans = column.Add(s, "evidence_spans", column.NewArray(&column.Bytes8{}))
	t.attempts = column.Add(s, "evidence_attempts", column.NewArray(&column.Int32{}))
	t.wasteAttempts = column.Add(s, "waste_attempts", &column.Int64{})
	t.wasteDuration = column.Add(s, "waste_duration", &column.Int64{})
	t.wasteToken = column.Add(s, "waste_tokens", &column.Int64{})
	t.wasteCost = column.Add(s, "waste_cost_nano", &column.Int64{})
	t.mergedInto = column.Add(s, "merged_into", &column.Bytes16{})
	t.expires = column.Add(s, "expires_at", column.NewDateTime())
	return t
}

func (t *findingTable) append(f *agent.Finding, version uint64) {
	t.tenant.Append(f.Tenant)
	t.run.Append(f.Run)
	t.id.Append(f.ID)
	t.version.Append(version)
	t.kind.Append(f.Kind)
	t.anchor.Append(f.Anchor)
	t.severity.Append(uint8(f.Severity))
	t.status.Append(uint8(f.Status))
	t.step.Append(f.Step)
	t.tool.Append(f.Tool)
	t.agent.Append(f.Agent)
	t.detected.Append(f.DetectedAt)
	t.message.Append(f.Message)
	for i := range f.Evidence {
		e := &f.Evidence[i]
		t.units.Elem.Append(e.Unit)
		t.traces.Elem.Append(e.Trace)
		t.spans.Elem.Append(e.Span)
		t.attempts.Elem.Append(e.Attempt)
	}
	t.units.End()
	t.traces.End()
	t.spans.End()
	t.attempts.End()
	t.wasteAttempts.Append(f.Waste.Attempts)
	t.wasteDuration.Append(f.Waste.Duration)
	t.wasteToken.Append(f.Waste.Tokens)
	t.wasteCost.Append(f.Waste.CostNano)
	t.mergedInto.Append(f.MergedInto)
	expires := f.Expires
	if expires == 0 {
		expires = f.DetectedAt/1e9 + defaultRetention
	}
	t.expires.Append(seconds(expires))
}

func (t *findingTable) row(i int) agent.StoredFinding {
	f := agent.Finding{
		ID: t.id.Row(i), Tenant: t.tenant.Row(i), Run: t.run.Row(i), Kind: t.kind.Row(i), Anchor: t.anchor.Row(i),
		Severity: agent.Severity(t.severity.Row(i)), Status: agent.Status(t.status.Row(i)), Step: t.step.Row(i),
		Tool: t.tool.Row(i), Agent: t.agent.Row(i), DetectedAt: t.detected.Row(i), Message: t.message.Row(i),
		Waste: agent.Waste{
			Attempts: t.wasteAttempts.Row(i), Duration: t.wasteDuration.Row(i),
			Tokens: t.wasteToken.Row(i), CostNano: t.wasteCost.Row(i),
		},
		MergedInto: t.mergedInto.Row(i), Expires: int64(t.expires.Row(i)),
	}
	if lo, hi := t.units.Span(i); hi > lo {
		f.Evidence = make([]agent.Evidence, 0, hi-lo)
		for j := lo; j < hi; j++ {
			f.Evidence = append(f.Evidence, agent.Evidence{
				Unit: t.units.Elem.Row(j), Trace: t.traces.Elem.Row(j), Span: t.spans.Elem.Row(j), Attempt: t.attempts.Elem.Row(j),
			})
		}
	}
	return agent.StoredFinding{Finding: f, Version: t.version.Row(i)}
}

// defaultRetention is how long what the policy sets no term for is kept, in
// seconds: as long as the longest term of the shipped policy.
const defaultRetention = 400 * 24 * 3600
