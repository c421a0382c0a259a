package store

import (
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// attemptTable is the columns of the attempts table. It is written only: what
// reads it are statistics, in SQL; a run's own attempts are derived anew.
type attemptTable struct {
	column.Set
	tenant                    *column.Dict
	unit                      *column.String
	started                   *column.Int64
	trace                     *column.Bytes16
	span                      *column.Bytes8
	part                      *column.UInt16
	callID, run               *column.String
	version                   *column.UInt64
	agent, runAgent, taskType *column.Dict
	stepID                    *column.String
	attempt                   *column.Int32
	attemptSource             *column.UInt8
	lane                      *column.Dict
	kind, kindSource, op      *column.UInt8
	outcome, gate             *column.UInt8
	executed, noSpan, seen    *column.Bool
	tool                      *column.Dict
	target, key               *column.String
	model, promptVersion      *column.Dict
	ended                     *column.Int64
	errorType                 *column.Dict
	statusCode, requests      *column.Int32
	tokens                    tokenColumns
	cost                      *column.Int64
	costSource                *column.UInt8
	expires                   *column.UInt32
}

func newAttemptTable() *attemptTable {
	t := &attemptTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.unit = column.Add(s, "unit", column.NewString())
	t.started = column.Add(s, "started_at", column.NewTime())
	t.trace = column.Add(s, "trace_id", &column.Bytes16{})
	t.span = column.Add(s, "span_id", &column.Bytes8{})
	t.part = column.Add(s, "part", &column.UInt16{})
	t.callID = column.Add(s, "call_id", column.NewString())
	t.run = column.Add(s, "run", column.NewString())
	t.version = column.Add(s, "version", &column.UInt64{})
	t.agent = column.Add(s, "agent", column.NewDict())
	t.runAgent = column.Add(s, "run_agent", column.NewDict())
	t.taskType = column.Add(s, "task_type", column.NewDict())
	t.stepID = column.Add(s, "step_id", column.NewString())
	t.attempt = column.Add(s, "attempt", &column.Int32{})
	t.attemptSource = column.Add(s, "attempt_source", enum[agent.AttemptSource]())
	t.lane = column.Add(s, "lane", column.NewDict())
	t.kind = column.Add(s, "kind", enum[agent.Kind]())
	t.kindSource = column.Add(s, "kind_source", enum[agent.KindSource]())
	t.op = column.Add(s, "op", enum[agent.Op]())
	t.outcome = column.Add(s, "outcome", enum[agent.Outcome]())
	t.gate = column.Add(s, "gate", enum[agent.Gate]())
	t.executed = column.Add(s, "executed", &column.Bool{})
	t.noSpan = column.Add(s, "no_span", &column.Bool{})
	t.seen = column.Add(s, "seen", &column.Bool{})
	t.tool = column.Add(s, "tool", column.NewDict())
	t.target = column.Add(s, "target", column.NewString())
	t.key = column.Add(s, "key", column.NewString())
	t.model = column.Add(s, "model", column.NewDict())
	t.promptVersion = column.Add(s, "prompt_version", column.NewDict())
	t.ended = column.Add(s, "ended_at", column.NewTime())
	t.errorType = column.Add(s, "error_type", column.NewDict())
	t.statusCode = column.Add(s, "status_code", &column.Int32{})
	t.requests = column.Add(s, "requests", &column.Int32{})
	t.tokens = addTokens(s, "")
	t.cost = column.Add(s, "cost_nano", &column.Int64{})
	t.costSource = column.Add(s, "cost_source", enum[agent.CostSource]())
	t.expires = column.Add(s, "expires_at", column.NewDateTime())
	return t
}

func (t *attemptTable) append(r *agent.Run, st *agent.RunStep, a *agent.Attempt, version uint64) {
	span := a.Step()
	t.tenant.Append(r.Tenant)
	t.unit.Append(a.Unit)
	t.started.Append(a.Start)
	t.trace.Append(a.Trace)
	t.span.Append(a.Span)
	t.part.Append(a.Part)
	t.callID.Append(a.CallID)
	t.run.Append(r.ID)
	t.version.Append(version)
	t.agent.Append(st.Agent)
	t.runAgent.Append(r.Agent)
	t.taskType.Append(r.TaskType)
	t.stepID.Append(st.ID)
	t.attempt.Append(a.Number)
	t.attemptSource.Append(uint8(a.Source))
	t.lane.Append(st.LaneName)
	t.kind.Append(uint8(st.Kind))
	t.kindSource.Append(uint8(st.Source))
	t.op.Append(uint8(st.Op))
	t.outcome.Append(uint8(a.Outcome))
	t.gate.Append(uint8(a.Gate))
	t.executed.Append(a.Executed)
	t.noSpan.Append(a.NoSpan)
	t.seen.Append(a.Seen)
	t.tool.Append(a.Tool)
	t.target.Append(a.Target)
	t.key.Append(a.Key)
	t.model.Append(agent.ModelOf(st, a))
	t.promptVersion.Append(promptOf(st, span))
	t.ended.Append(a.End)
	t.errorType.Append(a.ErrorType)
	t.statusCode.Append(a.StatusCode)
	t.requests.Append(int32(min(a.Requests, 1<<30))) // bounded
	t.tokens.append(&a.Tokens)
	t.cost.Append(a.CostNano)
	t.costSource.Append(uint8(a.CostSource))
	t.expires.Append(seconds(expiryOf(a.Spans)))
}

func promptOf(st *agent.RunStep, span *agent.Step) string {
	if st.Op != agent.OpModel {
		return ""
	}
	return span.Model.PromptVersion
}

// actTable is the columns of the acts table.
type actTable struct {
	column.Set
	tenant            *column.Dict
	target            *column.String
	started           *column.Int64
	trace             *column.Bytes16
	span              *column.Bytes8
	part              *column.UInt16
	version           *column.UInt64
	gone              *column.Bool
	run, unit, stepID *column.String
	attempt           *column.Int32
	kind              *column.UInt8
	agent, tool       *column.Dict
	key               *column.String
	gate, outcome     *column.UInt8
	executed          *column.Bool
	ended             *column.Int64
	expires           *column.UInt32
}

func newActTable() *actTable {
	t := &actTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.target = column.Add(s, "target", column.NewString())
	t.started = column.Add(s, "started_at", column.NewTime())
	t.trace = column.Add(s, "trace_id", &column.Bytes16{})
	t.span = column.Add(s, "span_id", &column.Bytes8{})
	t.part = column.Add(s, "part", &column.UInt16{})
	t.version = column.Add(s, "version", &column.UInt64{})
	t.gone = column.Add(s, "gone", &column.Bool{})
	t.run = column.Add(s, "run", column.NewString())
	t.unit = column.Add(s, "unit", column.NewString())
	t.stepID = column.Add(s, "step_id", column.NewString())
	t.attempt = column.Add(s, "attempt", &column.Int32{})
	t.kind = column.Add(s, "kind", enum[agent.Kind]())
	t.agent = column.Add(s, "agent", column.NewDict())
	t.tool = column.Add(s, "tool", column.NewDict())
	t.key = column.Add(s, "key", column.NewString())
	t.gate = column.Add(s, "gate", enum[agent.Gate]())
	t.outcome = column.Add(s, "outcome", enum[agent.Outcome]())
	t.executed = column.Add(s, "executed", &column.Bool{})
	t.ended = column.Add(s, "ended_at", column.NewTime())
	t.expires = column.Add(s, "expires_at", column.NewDateTime())
	return t
}

func (t *actTable) append(a *agent.Act, version uint64, gone bool, expires int64) {
	t.tenant.Append(a.Tenant)
	t.target.Append(a.Target)
	t.started.Append(a.Start)
	t.trace.Append(a.Trace)
	t.span.Append(a.Span)
	t.part.Append(a.Part)
	t.version.Append(version)
	t.gone.Append(gone)
	t.run.Append(a.Run)
	t.unit.Append(a.Unit)
	t.stepID.Append(a.StepID)
	t.attempt.Append(a.Attempt)
	t.kind.Append(uint8(a.Kind))
	t.agent.Append(a.Agent)
	t.tool.Append(a.Tool)
	t.key.Append(a.Key)
	t.gate.Append(uint8(a.Gate))
	t.outcome.Append(uint8(a.Outcome))
	t.executed.Append(a.Executed)
	t.ended.Append(a.End)
	t.expires.Append(seconds(expires))
}

func (t *actTable) row(i int) agent.Act {
	return agent.Act{
		Tenant: t.tenant.Row(i), Run: t.run.Row(i), Unit: t.unit.Row(i), Trace: t.trace.Row(i), Span: t.span.Row(i), Part: t.part.Row(i),
		StepID: t.stepID.Row(i), Attempt: t.attempt.Row(i), Kind: agent.Kind(t.kind.Row(i)), Agent: t.agent.Row(i), Tool: t.tool.Row(i),
		Target: t.target.Row(i), Key: t.key.Row(i), Gate: agent.Gate(t.gate.Row(i)), Outcome: agent.Outcome(t.outcome.Row(i)),
		Executed: t.executed.Row(i), Start: t.started.Row(i), End: t.ended.Row(i),
	}
}
