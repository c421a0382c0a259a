package store

import (
	"maps"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// runTable is the columns of the runs table.
type runTable struct {
	column.Set
	tenant                              *column.Dict
	run                                 *column.String
	version                             *column.UInt64
	gone                                *column.Bool
	mergedInto                          *column.String
	idSource                            *column.UInt8
	parent, session                     *column.String
	agent, taskType                     *column.Dict
	user, scenario                      *column.String
	status, outcome                     *column.UInt8
	stated                              *column.Bool
	escalation                          *column.Dict
	started, ended                      *column.Int64
	kindSteps, kindAttempts, kindErrors *column.Array[*column.Int64]
	operation, attempt                  usageColumns
	models, promptVersions              *column.Array[*column.Dict]
	traces                              *column.Array[*column.Bytes16]
	tools                               *column.Array[*column.Dict]
	targets                             *column.Array[*column.String]
	findings                            *column.Map[*column.Int64]
	unknownOpen                         *column.Int64
	policyHash                          *column.Dict
	rootSeen                            *column.Bool
	dropped, notSeen                    *column.Int64
	visible                             *column.UInt8
	argumentsRecorded                   *column.Float64
	contentFirst, contentLast           *column.Int64
	spans                               *column.Int64
	units                               *column.Array[*column.String]
	expires                             *column.UInt32
}

// usageColumns is an agent.Usage.
type usageColumns struct {
	tokens tokenColumns
	cost   *column.Int64
	source *column.UInt8
}

func addUsage(s *column.Set, prefix string) usageColumns {
	return usageColumns{
		tokens: addTokens(s, prefix),
		cost:   column.Add(s, prefix+"cost_nano", &column.Int64{}),
		source: column.Add(s, prefix+"cost_source", enum[agent.CostSource]()),
	}
}

func (c *usageColumns) append(u *agent.Usage) {
	c.tokens.append(&u.Tokens)
	c.cost.Append(u.CostNano)
	c.source.Append(uint8(u.CostSource))
}

func (c *usageColumns) row(i int) agent.Usage {
	return agent.Usage{Tokens: c.tokens.row(i), CostNano: c.cost.Row(i), CostSource: agent.CostSource(c.source.Row(i))}
}

func newRunTable() *runTable {
	t := &runTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.run = column.Add(s, "run", column.NewString())
	t.version = column.Add(s, "version", &column.UInt64{})
	t.gone = column.Add(s, "gone", &column.Bool{})
	t.mergedInto = column.Add(s, "merged_into", column.NewString())
	t.idSource = column.Add(s, "id_source", enum[agent.IDSource]())
	t.parent = column.Add(s, "parent_run", column.NewString())
	t.session = column.Add(s, "session", column.NewString())
	t.agent = column.Add(s, "agent", column.NewDict())
	t.taskType = column.Add(s, "task_type", column.NewDict())
	t.user = column.Add(s, "user", column.NewString())
	t.scenario = column.Add(s, "scenario", column.NewString())
	t.status = column.Add(s, "status", enum[agent.RunStatus]())
	t.outcome = column.Add(s, "outcome", enum[agent.RunOutcome]())
	t.stated = column.Add(s, "outcome_stated", &column.Bool{})
	t.escalation = column.Add(s, "escalation", column.NewDict())
	t.started = column.Add(s, "started_at", column.NewTime())
	t.ended = column.Add(s, "ended_at", column.NewTime())
	t.kindSteps = column.Add(s, "kind_steps", column.NewArray(&column.Int64{}))
	t.kindAttempts = column.Add(s, "kind_attempts", column.NewArray(&column.Int64{}))
	t.kindErrors = column.Add(s, "kind_errors", column.NewArray(&column.Int64{}))
	t.operation = addUsage(s, "operation_")
	t.attempt = addUsage(s, "attempt_")
	t.models = column.Add(s, "models", column.NewArray(column.NewDict()))
	t.promptVersions = column.Add(s, "prompt_versions", column.NewArray(column.NewDict()))
	t.traces = column.Add(s, "traces", column.NewArray(&column.Bytes16{}))
	t.tools = column.Add(s, "tools", column.NewArray(column.NewDict()))
	t.targets = column.Add(s, "targets", column.NewArray(column.NewString()))
	t.findings = column.Add(s, "findings", column.NewMap(&column.Int64{}))
	t.unknownOpen = column.Add(s, "unknown_open", &column.Int64{})
	t.policyHash = column.Add(s, "policy_hash", column.NewDict())
	t.rootSeen = column.Add(s, "root_seen", &column.Bool{})
	t.dropped = column.Add(s, "dropped_attributes", &column.Int64{})
	t.notSeen = column.Add(s, "calls_not_seen", &column.Int64{})
	t.visible = column.Add(s, "attempts_visible", column.NewEnum(visibilityType))
	t.argumentsRecorded = column.Add(s, "arguments_recorded", &column.Float64{})
	t.contentFirst = column.Add(s, "content_first", &column.Int64{})
	t.contentLast = column.Add(s, "content_last", &column.Int64{})
	t.spans = column.Add(s, "spans", &column.Int64{})
	t.units = column.Add(s, "units", column.NewArray(column.NewString()))
	t.expires = column.Add(s, "expires_at", column.NewDateTime())
	return t
}

// fate is what a row of runs says besides the summary.
type fate struct {
	version    uint64
	gone       bool
	mergedInto string
	expires    int64
}

func (t *runTable) append(r *agent.Summary, f fate) {
	t.tenant.Append(r.Tenant)
	t.run.Append(r.RunID)
	t.version.Append(f.version)
	t.gone.Append(f.gone)
	t.mergedInto.Append(f.mergedInto)
	t.idSource.Append(uint8(r.IDSource))
	t.parent.Append(r.Parent)
	t.session.Append(r.Session)
	t.agent.Append(r.Agent)
	t.taskType.Append(r.TaskType)
	t.user.Append(r.User)
	t.scenario.Append(r.Scenario)
	t.status.Append(uint8(r.Status))
	t.outcome.Append(uint8(r.Outcome))
	t.stated.Append(r.Stated)
	t.escalation.Append(r.Escalation)
	t.started.Append(r.Started)
	t.ended.Append(r.Ended)
	for i := range r.Counts {
		t.kindSteps.Elem.Append(r.Counts[i].Steps)
		t.kindAttempts.Elem.Append(r.Counts[i].Attempts)
		t.kindErrors.Elem.Append(r.Counts[i].Errors)
	}
	t.kindSteps.End()
	t.kindAttempts.End()
	t.kindErrors.End()
	t.operation.append(&r.PerOperation)
	t.attempt.append(&r.PerAttempt)
	appendDict(t.models, r.Models)
	appendDict(t.promptVersions, r.PromptVersions)
	for _, id := range r.Traces {
		t.traces.Elem.Append(id)
	}
	t.traces.End()
	appendDict(t.tools, r.Tools)
	appendDict(t.targets, r.Targets)
	for _, kind := range slices.Sorted(maps.Keys(r.Findings)) {
		t.findings.Keys.Append(kind)
		t.findings.Vals.Append(r.Findings[kind])
	}
	t.findings.End()
	t.unknownOpen.Append(r.UnknownOpen)
	t.policyHash.Append(r.PolicyHash)
	t.rootSeen.Append(r.RootSeen)
	t.dropped.Append(r.DroppedAttributes)
	t.notSeen.Append(r.CallsNotSeen)
	t.visible.Append(uint8(r.AttemptsVisible))
	t.argumentsRecorded.Append(r.ArgumentsRecorded)
	t.contentFirst.Append(r.ContentFirst)
	t.contentLast.Append(r.ContentLast)
	t.spans.Append(r.Spans)
	appendDict(t.units, r.Units)
	t.expires.Append(seconds(f.expires))
}

func (t *runTable) row(i int) agent.Summary {
	r := agent.Summary{
		Tenant: t.tenant.Row(i), RunID: t.run.Row(i), IDSource: agent.IDSource(t.idSource.Row(i)), Parent: t.parent.Row(i),
		Session: t.session.Row(i), Agent: t.agent.Row(i), TaskType: t.taskType.Row(i), User: t.user.Row(i), Scenario: t.scenario.Row(i),
		Status: agent.RunStatus(t.status.Row(i)), Outcome: agent.RunOutcome(t.outcome.Row(i)), Stated: t.stated.Row(i), Escalation: t.escalation.Row(i),
		Started: t.started.Row(i), Ended: t.ended.Row(i),
		PerOperation: t.operation.row(i), PerAttempt: t.attempt.row(i),
		Models: rowDict(t.models, i), PromptVersions: rowDict(t.promptVersions, i), Tools: rowDict(t.tools, i), Targets: rowDict(t.targets, i),
		UnknownOpen: t.unknownOpen.Row(i), PolicyHash: t.policyHash.Row(i), RootSeen: t.rootSeen.Row(i),
		DroppedAttributes: t.dropped.Row(i), CallsNotSeen: t.notSeen.Row(i), AttemptsVisible: agent.Visibility(t.visible.Row(i)),
		ArgumentsRecorded: t.argumentsRecorded.Row(i), ContentFirst: t.contentFirst.Row(i), ContentLast: t.contentLast.Row(i),
		Spans: t.spans.Row(i), Units: rowDict(t.units, i),
	}
	lo, hi := t.kindSteps.Span(i)
	for j := lo; j < hi && j-lo < len(r.Counts); j++ {
		r.Counts[j-lo] = agent.KindCounts{
			Steps: t.kindSteps.Elem.Row(j), Attempts: t.kindAttempts.Elem.Row(j), Errors: t.kindErrors.Elem.Row(j),
		}
	}
	if lo, hi := t.traces.Span(i); hi > lo {
		for j := lo; j < hi; j++ {
			r.Traces = append(r.Traces, t.traces.Elem.Row(j))
		}
	}
	if lo, hi := t.findings.Span(i); hi > lo {
		r.Findings = make(map[string]int64, hi-lo)
		for j := lo; j < hi; j++ {
			r.Findings[t.findings.Keys.Row(j)] = t.findings.Vals.Row(j)
		}
	}
	return r
}
