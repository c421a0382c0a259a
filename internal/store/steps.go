package store

import (
	"math"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// stepTable is the columns of the steps table: encode is append, decode is row.
type stepTable struct {
	column.Set
	tenant                            *column.Dict
	unit                              *column.String
	trace                             *column.Bytes16
	span, parent                      *column.Bytes8
	name, spanKind, scope             *column.Dict
	dialect, service, instance        *column.Dict
	started, ended, received          *column.Int64
	expires, contentExpires           *column.UInt32
	runID, dialectRun                 *column.String
	dialectRunWeak                    *column.Bool
	parentRun, session, user          *column.String
	taskType                          *column.Dict
	scenario                          *column.String
	runOutcome                        *column.UInt8
	escalation                        *column.Dict
	agent, agentID, agentVersion      *column.Dict
	op, kind, kindSource              *column.UInt8
	stepID, dialectStep, checkpoint   *column.String
	index, attempt                    *column.Int32
	tool                              *column.Dict
	callID                            *column.String
	toolType                          *column.Dict
	effect                            *column.UInt8
	target, key                       *column.String
	gate                              *column.UInt8
	arguments, result                 contentColumns
	argumentsSent, resultSent         *column.Bytes16
	outputFunction                    *column.Bool
	onUnknown                         *column.UInt8
	reconcileWith                     *column.Array[*column.Dict]
	repeatable, approval, forbidden   *column.Bool
	provider, requested, served       *column.Dict
	responseID                        *column.String
	promptName, promptVersion, finish *column.Dict
	temperature, topP                 *column.NullFloat64
	maxTokens, seed                   *column.NullInt64
	tokens                            tokenColumns
	cost                              *column.Int64
	costSource                        *column.UInt8
	context, outputs                  *column.Array[*column.Bytes16]
	contextHash                       *column.Bytes32
	contextURI                        *column.String
	input, output                     *column.Bytes16
	outcome, sign                     *column.UInt8
	errorType                         *column.Dict
	errorText                         *column.String
	statusCode                        *column.Int32
	reconciles                        *column.String
	reconcileResult, decision         *column.UInt8
	actor, reason                     *column.String
	handoffTo, httpMethod             *column.Dict
	httpURL, httpKey                  *column.String
	linkTraces                        *column.Array[*column.Bytes16]
	linkSpans                         *column.Array[*column.Bytes8]
	rules                             *column.Array[*column.Dict]
	facts                             *column.String
	erased                            *column.Bool
	policyHash                        *column.Dict
	redacted, dropped                 *column.Int32
	attributes                        *column.Map[*column.String]
	attributesJSON, resourceJSON      *column.Array[*column.UInt16]
	resource                          *column.Map[*column.Dict]
	eventTimes                        *column.Array[*column.Int64]
	eventNames                        *column.Array[*column.Dict]
	eventAttributes                   *column.Array[*column.Map[*column.String]]
	eventAttributeJSON                *column.Array[*column.Array[*column.UInt16]]
}

func newStepTable() *stepTable {
	t := &stepTable{}
	t.identity()
	t.run()
	t.call()
	t.model()
	t.rest()
	return t
}

func (t *stepTable) identity() {
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.unit = column.Add(s, "unit", column.NewString())
	t.trace = column.Add(s, "trace_id", &column.Bytes16{})
	t.span = column.Add(s, "span_id", &column.Bytes8{})
	t.parent = column.Add(s, "parent_id", &column.Bytes8{})
	t.name = column.Add(s, "name", column.NewDict())
	t.spanKind = column.Add(s, "span_kind", column.NewDict())
	t.scope = column.Add(s, "scope", column.NewDict())
	t.dialect = column.Add(s, "dialect", column.NewDict())
	t.service = column.Add(s, "service", column.NewDict())
	t.instance = column.Add(s, "instance", column.NewDict())
	t.started = column.Add(s, "started_at", column.NewTime())
	t.ended = column.Add(s, "ended_at", column.NewTime())
	t.received = column.Add(s, "received_at", column.NewTime())
	t.expires = column.Add(s, "expires_at", column.NewDateTime())
	t.contentExpires = column.Add(s, "content_expires_at", column.NewDateTime())
}

func (t *stepTable) run() {
	s := &t.Set
	t.runID = column.Add(s, "run_id", column.NewString())
	t.dialectRun = column.Add(s, "dialect_run", column.NewString())
	t.dialectRunWeak = column.Add(s, "dialect_run_weak", &column.Bool{})
	t.parentRun = column.Add(s, "parent_run", column.NewString())
	t.session = column.Add(s, "session", column.NewString())
	t.user = column.Add(s, "user", column.NewString())
	t.taskType = column.Add(s, "task_type", column.NewDict())
	t.scenario = column.Add(s, "scenario", column.NewString())
	t.runOutcome = column.Add(s, "run_outcome", enum[agent.RunOutcome]())
	t.escalation = column.Add(s, "escalation", column.NewDict())
	t.agent = column.Add(s, "agent", column.NewDict())
	t.agentID = column.Add(s, "agent_id", column.NewDict())
	t.agentVersion = column.Add(s, "agent_version", column.NewDict())
	t.op = column.Add(s, "op", enum[agent.Op]())
	t.kind = column.Add(s, "kind", enum[agent.Kind]())
	t.kindSource = column.Add(s, "kind_source", enum[agent.KindSource]())
	t.stepID = column.Add(s, "step_id", column.NewString())
	t.dialectStep = column.Add(s, "dialect_step", column.NewString())
	t.checkpoint = column.Add(s, "checkpoint", column.NewString())
	t.index = column.Add(s, "step_index", &column.Int32{})
	t.attempt = column.Add(s, "attempt", &column.Int32{})
}

func (t *stepTable) call() {
	s := &t.Set
	t.tool = column.Add(s, "tool", column.NewDict())
	t.callID = column.Add(s, "call_id", column.NewString())
	t.toolType = column.Add(s, "tool_type", column.NewDict())
	t.effect = column.Add(s, "effect", enum[agent.Effect]())
	t.target = column.Add(s, "target", column.NewString())
	t.key = column.Add(s, "key", column.NewString())
	t.gate = column.Add(s, "gate", enum[agent.Gate]())
	t.arguments = addContent(s, "arguments")
	t.result = addContent(s, "result")
	t.argumentsSent = column.Add(s, "arguments_sent", &column.Bytes16{})
	t.resultSent = column.Add(s, "result_sent", &column.Bytes16{})
	t.outputFunction = column.Add(s, "output_function", &column.Bool{})
	t.onUnknown = column.Add(s, "on_unknown", enum[agent.OnUnknown]())
	t.reconcileWith = column.Add(s, "reconcile_with", column.NewArray(column.NewDict()))
	t.repeatable = column.Add(s, "repeatable", &column.Bool{})
	t.approval = column.Add(s, "approval", &column.Bool{})
	t.forbidden = column.Add(s, "forbidden", &column.Bool{})
}

func (t *stepTable) model() {
	s := &t.Set
	t.provider = column.Add(s, "provider", column.NewDict())
	t.requested = column.Add(s, "model_requested", column.NewDict())
	t.served = column.Add(s, "model_served", column.NewDict())
	t.responseID = column.Add(s, "response_id", column.NewString())
	t.promptName = column.Add(s, "prompt_name", column.NewDict())
	t.promptVersion = column.Add(s, "prompt_version", column.NewDict())
	t.finish = column.Add(s, "finish_reason", column.NewDict())
	t.temperature = column.Add(s, "temperature", &column.NullFloat64{})
	t.topP = column.Add(s, "top_p", &column.NullFloat64{})
	t.maxTokens = column.Add(s, "max_tokens", &column.NullInt64{})
	t.seed = column.Add(s, "seed", &column.NullInt64{})
	t.tokens = addTokens(s, "")
	t.cost = column.Add(s, "cost_nano", &column.Int64{})
	t.costSource = column.Add(s, "cost_source", enum[agent.CostSource]())
	t.context = column.Add(s, "context", column.NewArray(&column.Bytes16{}))
	t.contextHash = column.Add(s, "context_hash", &column.Bytes32{})
	t.contextURI = column.Add(s, "context_uri", column.NewString())
	t.input = column.Add(s, "input_digest", &column.Bytes16{})
	t.output = column.Add(s, "output_digest", &column.Bytes16{})
	t.outputs = column.Add(s, "outputs", column.NewArray(&column.Bytes16{}))
}

func (t *stepTable) rest() {
	s := &t.Set
	t.outcome = column.Add(s, "outcome", enum[agent.Outcome]())
	t.sign = column.Add(s, "sign", enum[agent.Sign]())
	t.errorType = column.Add(s, "error_type", column.NewDict())
	t.errorText = column.Add(s, "error_text", column.NewString())
	t.statusCode = column.Add(s, "status_code", &column.Int32{})
	t.reconciles = column.Add(s, "reconciles", column.NewString())
	t.reconcileResult = column.Add(s, "reconcile_result", enum[agent.Settlement]())
	t.decision = column.Add(s, "decision", enum[agent.Decision]())
	t.actor = column.Add(s, "actor", column.NewString())
	t.reason = column.Add(s, "reason", column.NewString())
	t.handoffTo = column.Add(s, "handoff_to", column.NewDict())
	t.httpMethod = column.Add(s, "http_method", column.NewDict())
	t.httpURL = column.Add(s, "http_url", column.NewString())
	t.httpKey = column.Add(s, "http_key", column.NewString())
	t.linkTraces = column.Add(s, "link_traces", column.NewArray(&column.Bytes16{}))
	t.linkSpans = column.Add(s, "link_spans", column.NewArray(&column.Bytes8{}))
	t.rules = column.Add(s, "rules", column.NewArray(column.NewDict()))
	t.facts = column.Add(s, "facts", column.NewString())
	t.policyHash = column.Add(s, "policy_hash", column.NewDict())
	t.erased = column.Add(s, "erased", &column.Bool{})
	t.redacted = column.Add(s, "redacted", &column.Int32{})
	t.dropped = column.Add(s, "dropped", &column.Int32{})
	t.attributes = column.Add(s, "attributes", column.NewMap(column.NewString()))
	t.attributesJSON = column.Add(s, "attributes_json", column.NewArray(&column.UInt16{}))
	t.resource = column.Add(s, "resource", column.NewMap(column.NewDict()))
	t.resourceJSON = column.Add(s, "resource_json", column.NewArray(&column.UInt16{}))
	t.eventTimes = column.Add(s, "event_times", column.NewArray(column.NewTime()))
	t.eventNames = column.Add(s, "event_names", column.NewArray(column.NewDict()))
	t.eventAttributes = column.Add(s, "event_attributes", column.NewArray(column.NewMap(column.NewString())))
	t.eventAttributeJSON = column.Add(s, "event_attributes_json", column.NewArray(column.NewArray(&column.UInt16{})))
}

// append adds a row. It keeps nothing of st.
func (t *stepTable) append(st *agent.Step) {
	t.appendIdentity(st)
	t.appendCall(&st.Call)
	t.appendModel(&st.Model)
	t.appendRest(st)
}

func (t *stepTable) appendIdentity(st *agent.Step) {
	t.tenant.Append(st.Tenant)
	t.unit.Append(st.Unit)
	t.trace.Append(st.Trace)
	t.span.Append(st.Span)
	t.parent.Append(st.Parent)
	t.name.Append(st.Name)
	t.spanKind.Append(st.SpanKind)
	t.scope.Append(st.Scope)
	t.dialect.Append(st.Dialect)
	t.service.Append(st.Service)
	t.instance.Append(st.Instance)
	t.started.Append(st.Start)
	t.ended.Append(st.End)
	t.received.Append(st.Received)
	t.expires.Append(seconds(st.Expires))
	t.contentExpires.Append(seconds(st.ContentExpires))
	t.runID.Append(st.RunID)
	t.dialectRun.Append(st.DialectRun)
	t.dialectRunWeak.Append(st.DialectRunWeak)
	t.parentRun.Append(st.ParentRun)
	t.session.Append(st.Session)
	t.user.Append(st.User)
	t.taskType.Append(st.TaskType)
	t.scenario.Append(st.Scenario)
	t.runOutcome.Append(uint8(st.RunOutcome))
	t.escalation.Append(st.Escalation)
	t.agent.Append(st.Agent)
	t.agentID.Append(st.AgentID)
	t.agentVersion.Append(st.AgentVersion)
	t.op.Append(uint8(st.Op))
	t.kind.Append(uint8(st.Kind))
	t.kindSource.Append(uint8(st.KindSource))
	t.stepID.Append(st.StepID)
	t.dialectStep.Append(st.DialectStep)
	t.checkpoint.Append(st.Checkpoint)
	t.index.Append(st.Index)
	t.attempt.Append(st.Attempt)
}

func (t *stepTable) appendCall(c *agent.Call) {
	t.tool.Append(c.Tool)
	t.callID.Append(c.ID)
	t.toolType.Append(c.ToolType)
	t.effect.Append(uint8(c.Effect))
	t.target.Append(c.Target)
	t.key.Append(c.Key)
	t.gate.Append(uint8(c.Gate))
	t.arguments.append(&c.Arguments)
	t.result.append(&c.Result)
	t.argumentsSent.Append(c.ArgumentsSent)
	t.resultSent.Append(c.ResultSent)
	t.outputFunction.Append(c.OutputFunction)
	t.onUnknown.Append(uint8(c.OnUnknown))
	appendDict(t.reconcileWith, c.ReconcileWith)
	t.repeatable.Append(c.Repeatable)
	t.approval.Append(c.Approval)
	t.forbidden.Append(c.Forbidden)
}

func (t *stepTable) appendModel(m *agent.Model) {
	t.provider.Append(m.Provider)
	t.requested.Append(m.Requested)
	t.served.Append(m.Served)
	t.responseID.Append(m.ResponseID)
	t.promptName.Append(m.PromptName)
	t.promptVersion.Append(m.PromptVersion)
	t.finish.Append(m.FinishReason)
	t.temperature.Append(m.Params.Temperature)
	t.topP.Append(m.Params.TopP)
	t.maxTokens.Append(m.Params.MaxTokens)
	t.seed.Append(m.Params.Seed)
	t.tokens.append(&m.Tokens)
	t.cost.Append(m.CostNano)
	t.costSource.Append(uint8(m.CostSource))
	appendRefs(t.context, m.Context)
	t.contextHash.Append(m.ContextHash)
	t.contextURI.Append(m.ContextURI)
	t.input.Append(m.Input)
	t.output.Append(m.Output)
	appendRefs(t.outputs, m.Outputs)
}

func (t *stepTable) appendRest(st *agent.Step) {
	t.outcome.Append(uint8(st.Outcome))
	t.sign.Append(uint8(st.Sign))
	t.errorType.Append(st.ErrorType)
	t.errorText.Append(st.ErrorText)
	t.statusCode.Append(st.StatusCode)
	t.reconciles.Append(st.Reconciles)
	t.reconcileResult.Append(uint8(st.ReconcileResult))
	t.decision.Append(uint8(st.Decision))
	t.actor.Append(st.Actor)
	t.reason.Append(st.Reason)
	t.handoffTo.Append(st.HandoffTo)
	t.httpMethod.Append(st.HTTP.Method)
	t.httpURL.Append(st.HTTP.URL)
	t.httpKey.Append(st.HTTP.Key)
	for _, l := range st.Links {
		t.linkTraces.Elem.Append(l.Trace)
		t.linkSpans.Elem.Append(l.Span)
	}
	t.linkTraces.End()
	t.linkSpans.End()
	appendDict(t.rules, st.Rules)
	t.facts.Append(st.Facts)
	t.policyHash.Append(st.PolicyHash)
	t.erased.Append(st.Erased)
	t.redacted.Append(st.Redacted)
	t.dropped.Append(st.Dropped)
	appendAttrs(t.attributes, t.attributesJSON, st.Attributes)
	appendAttrs(t.resource, t.resourceJSON, st.Resource)
	for i := range st.Events {
		e := &st.Events[i]
		t.eventTimes.Elem.Append(e.Time)
		t.eventNames.Elem.Append(e.Name)
		appendAttrs(t.eventAttributes.Elem, t.eventAttributeJSON.Elem, e.Attributes)
	}
	t.eventTimes.End()
	t.eventNames.End()
	t.eventAttributes.End()
	t.eventAttributeJSON.End()
}

// row gives row i.
func (t *stepTable) row(i int) *agent.Step {
	st := &agent.Step{
		Tenant: t.tenant.Row(i), Unit: t.unit.Row(i), Trace: t.trace.Row(i), Span: t.span.Row(i), Parent: t.parent.Row(i),
		Name: t.name.Row(i), SpanKind: t.spanKind.Row(i), Scope: t.scope.Row(i), Dialect: t.dialect.Row(i),
		Service: t.service.Row(i), Instance: t.instance.Row(i),
		Start: t.started.Row(i), End: t.ended.Row(i), Received: t.received.Row(i),
		Expires: int64(t.expires.Row(i)), ContentExpires: int64(t.contentExpires.Row(i)),
		RunID: t.runID.Row(i), DialectRun: t.dialectRun.Row(i), DialectRunWeak: t.dialectRunWeak.Row(i), ParentRun: t.parentRun.Row(i),
		Session: t.session.Row(i), User: t.user.Row(i), TaskType: t.taskType.Row(i), Scenario: t.scenario.Row(i),
		RunOutcome: agent.RunOutcome(t.runOutcome.Row(i)), Escalation: t.escalation.Row(i),
		Agent: t.agent.Row(i), AgentID: t.agentID.Row(i), AgentVersion: t.agentVersion.Row(i),
		Op: agent.Op(t.op.Row(i)), Kind: agent.Kind(t.kind.Row(i)), KindSource: agent.KindSource(t.kindSource.Row(i)),
		StepID: t.stepID.Row(i), DialectStep: t.dialectStep.Row(i), Checkpoint: t.checkpoint.Row(i),
		Index: t.index.Row(i), Attempt: t.attempt.Row(i),
		Call: t.rowCall(i), Model: t.rowModel(i),
		Outcome: agent.Outcome(t.outcome.Row(i)), Sign: agent.Sign(t.sign.Row(i)),
		ErrorType: t.errorType.Row(i), ErrorText: t.errorText.Row(i), StatusCode: t.statusCode.Row(i),
		Reconciles: t.reconciles.Row(i), ReconcileResult: agent.Settlement(t.reconcileResult.Row(i)),
		Decision: agent.Decision(t.decision.Row(i)), Actor: t.actor.Row(i), Reason: t.reason.Row(i),
		HandoffTo: t.handoffTo.Row(i),
		HTTP:      agent.HTTP{Method: t.httpMethod.Row(i), URL: t.httpURL.Row(i), Key: t.httpKey.Row(i)},
		Rules:     rowDict(t.rules, i), Facts: t.facts.Row(i), Erased: t.erased.Row(i), PolicyHash: t.policyHash.Row(i), Redacted: t.redacted.Row(i), Dropped: t.dropped.Row(i),
		Attributes: rowAttrs(t.attributes, t.attributesJSON, i),
		Resource:   rowAttrs(t.resource, t.resourceJSON, i),
	}
	if lo, hi := t.linkTraces.Span(i); hi > lo {
		st.Links = make([]agent.Link, 0, hi-lo)
		for j := lo; j < hi; j++ {
			st.Links = append(st.Links, agent.Link{Trace: t.linkTraces.Elem.Row(j), Span: t.linkSpans.Elem.Row(j)})
		}
	}
	if lo, hi := t.eventTimes.Span(i); hi > lo {
		st.Events = make([]agent.Event, 0, hi-lo)
		for j := lo; j < hi; j++ {
			st.Events = append(st.Events, agent.Event{
				Time: t.eventTimes.Elem.Row(j), Name: t.eventNames.Elem.Row(j),
				Attributes: rowAttrs(t.eventAttributes.Elem, t.eventAttributeJSON.Elem, j),
			})
		}
	}
	return st
}

func (t *stepTable) rowCall(i int) agent.Call {
	return agent.Call{
		Tool: t.tool.Row(i), ID: t.callID.Row(i), ToolType: t.toolType.Row(i), Effect: agent.Effect(t.effect.Row(i)),
		Target: t.target.Row(i), Key: t.key.Row(i), Gate: agent.Gate(t.gate.Row(i)),
		Arguments: t.arguments.row(i), Result: t.result.row(i),
		ArgumentsSent: t.argumentsSent.Row(i), ResultSent: t.resultSent.Row(i), OutputFunction: t.outputFunction.Row(i),
		OnUnknown: agent.OnUnknown(t.onUnknown.Row(i)), ReconcileWith: rowDict(t.reconcileWith, i),
		Repeatable: t.repeatable.Row(i), Approval: t.approval.Row(i), Forbidden: t.forbidden.Row(i),
	}
}

func (t *stepTable) rowModel(i int) agent.Model {
	return agent.Model{
		Provider: t.provider.Row(i), Requested: t.requested.Row(i), Served: t.served.Row(i), ResponseID: t.responseID.Row(i),
		PromptName: t.promptName.Row(i), PromptVersion: t.promptVersion.Row(i), FinishReason: t.finish.Row(i),
		Params: agent.Params{
			Temperature: t.temperature.Row(i), TopP: t.topP.Row(i), MaxTokens: t.maxTokens.Row(i), Seed: t.seed.Row(i),
		},
		Tokens: t.tokens.row(i), CostNano: t.cost.Row(i), CostSource: agent.CostSource(t.costSource.Row(i)),
		Context: rowRefs(t.context, i), ContextHash: t.contextHash.Row(i), ContextURI: t.contextURI.Row(i),
		Input: t.input.Row(i), Output: t.output.Row(i), Outputs: rowRefs(t.outputs, i),
	}
}

// seconds fits Unix seconds into ClickHouse's DateTime.
func seconds(s int64) uint32 {
	return uint32(min(max(s, 0), math.MaxUint32)) // clamped
}
