package canon

// Prefix begins every attribute name of our own.
const Prefix = "agent."

// Attributes that an agent may send, see the span conventions.
const (
	RunID            = Prefix + "run.id"
	RunParentID      = Prefix + "run.parent_id"
	RunOutcome       = Prefix + "run.outcome"
	TaskType         = Prefix + "task.type"
	ScenarioID       = Prefix + "scenario.id"
	StepID           = Prefix + "step.id"
	StepIndex        = Prefix + "step.index"
	StepAttempt      = Prefix + "step.attempt"
	StepKind         = Prefix + "step.kind"
	ToolEffect       = Prefix + "tool.effect"
	Target           = Prefix + "target"
	IdempotencyKey   = Prefix + "idempotency.key"
	GateDecision     = Prefix + "gate.decision"
	Outcome          = Prefix + "outcome"
	OnUnknown        = Prefix + "on_unknown"
	Reconciles       = Prefix + "reconciles"
	ReconcileResult  = Prefix + "reconcile.result"
	HumanDecision    = Prefix + "human.decision"
	HumanActor       = Prefix + "human.actor"
	HumanReason      = Prefix + "human.reason"
	EscalationReason = Prefix + "escalation.reason"
	ContextHash      = Prefix + "context.hash"
	ContextRef       = Prefix + "context.ref"
	ArgumentsHash    = Prefix + "call.arguments.hash"
	ResultHash       = Prefix + "call.result.hash"
	PromptVersion    = Prefix + "prompt.version"
	CostUSD          = Prefix + "cost.usd"
)

// Attributes that the processor writes. What comes from outside under these
// names is removed first.
const (
	Tenant         = Prefix + "tenant" // on the resource
	RunIDSource    = Prefix + "run.id.source"
	StepKindSource = Prefix + "step.kind.source"
	PolicyHash     = Prefix + "policy.hash"
	Redacted       = Prefix + "redacted"
	CostSource     = Prefix + "cost.source"
	Truncated      = Prefix + "truncated" // names of the attributes that were cut, with their full size and SHA-256
	Facts          = Prefix + "facts"     // bytes; see facts.go
)

// FindingEvent is the span event of a finding, and the names of its attributes.
const (
	FindingEvent = Prefix + "finding"

	FindingID         = FindingEvent + ".id"
	FindingKind       = FindingEvent + ".kind"
	FindingSeverity   = FindingEvent + ".severity"
	FindingMessage    = FindingEvent + ".message"
	FindingEvidence   = FindingEvent + ".evidence"
	FindingRun        = FindingEvent + ".run"
	FindingStep       = FindingEvent + ".step"
	FindingTool       = FindingEvent + ".tool"
	FindingAgent      = FindingEvent + ".agent"
	FindingAnchor     = FindingEvent + ".anchor"
	FindingStatus     = FindingEvent + ".status"
	FindingDetectedAt = FindingEvent + ".detected_at"
	FindingWaste      = FindingEvent + ".waste"
	FindingMergedInto = FindingEvent + ".merged_into"
)

// OTel GenAI attributes, current names.
const (
	OperationName      = "gen_ai.operation.name"
	ProviderName       = "gen_ai.provider.name"
	RequestModel       = "gen_ai.request.model"
	RequestTemperature = "gen_ai.request.temperature"
	RequestTopP        = "gen_ai.request.top_p"
	RequestMaxTokens   = "gen_ai.request.max_tokens"
	RequestSeed        = "gen_ai.request.seed"
	ResponseModel      = "gen_ai.response.model"
	ResponseID         = "gen_ai.response.id"
	FinishReasons      = "gen_ai.response.finish_reasons"
	InputTokens        = "gen_ai.usage.input_tokens"
	OutputTokens       = "gen_ai.usage.output_tokens"
	CacheReadTokens    = "gen_ai.usage.cache_read.input_tokens"
	CacheWriteTokens   = "gen_ai.usage.cache_write.input_tokens"
	ReasoningTokens    = "gen_ai.usage.reasoning.output_tokens"
	ConversationID     = "gen_ai.conversation.id"
	AgentName          = "gen_ai.agent.name"
	AgentID            = "gen_ai.agent.id"
	AgentVersion       = "gen_ai.agent.version"
	ToolName           = "gen_ai.tool.name"
	ToolType           = "gen_ai.tool.type"
	ToolCallID         = "gen_ai.tool.call.id"
	ToolArguments      = "gen_ai.tool.call.arguments"
	ToolResult         = "gen_ai.tool.call.result"
	SystemInstructions = "gen_ai.system_instructions"
	InputMessages      = "gen_ai.input.messages"
	OutputMessages     = "gen_ai.output.messages"
	PromptName         = "gen_ai.prompt.name"
	HandoffFrom        = "gen_ai.handoff.from_agent"
	HandoffTo          = "gen_ai.handoff.to_agent"
)

// General OTel attributes.
const (
	SessionID         = "session.id"
	UserID            = "user.id"
	ErrorType         = "error.type"
	ExceptionEvent    = "exception"
	ExceptionType     = "exception.type"
	ExceptionMessage  = "exception.message"
	ExceptionStack    = "exception.stacktrace"
	HTTPMethod        = "http.request.method"
	HTTPStatus        = "http.response.status_code"
	HTTPKeyHeader     = "http.request.header.idempotency-key"
	URLFull           = "url.full"
	URLPath           = "url.path"
	DBOperation       = "db.operation.name"
	DBSystem          = "db.system.name"
	RPCSystem         = "rpc.system"
	RPCStatus         = "rpc.response.status_code"
	ServiceName       = "service.name"
	ServiceInstanceID = "service.instance.id"
	ProcessPID        = "process.pid"
	HostName          = "host.name"
	EventName         = "event.name"
)

// Content attributes of log records behind the processor: what message the
// record holds.
const (
	MessageEvent = "gen_ai.message" // event name of a log record that holds one canonical message
)

// DecisionSpelling gives the canonical spelling of a person's decision; a word
// that no one knows comes back as it is.
func DecisionSpelling(s string) string {
	switch s {
	case "accept", "allow", "allowed", "confirm":
		return "approved"
	case "modify":
		return "edited"
	case "reject", "deny", "denied":
		return "rejected"
	}
	return s
}

// Reads reports whether the canonical form reads an attribute of that name on a
// span or log record. There are fewer than a hundred of them.
func Reads(k string) bool {
	switch k {
	case RunID, RunParentID, RunOutcome, TaskType, ScenarioID, StepID, StepIndex, StepAttempt, StepKind, ToolEffect, Target,
		IdempotencyKey, GateDecision, Outcome, OnUnknown, Reconciles, ReconcileResult, HumanDecision, HumanActor, HumanReason,
		EscalationReason, ContextHash, ContextRef, ArgumentsHash, ResultHash, PromptVersion, CostUSD,
		StepKindSource, RunIDSource, PolicyHash, Redacted, CostSource, Truncated, Facts,
		OperationName, ProviderName, RequestModel, RequestTemperature, RequestTopP, RequestMaxTokens, RequestSeed, ResponseModel,
		ResponseID, FinishReasons, InputTokens, OutputTokens, CacheReadTokens, CacheWriteTokens, ReasoningTokens, ConversationID,
		AgentName, AgentID, AgentVersion, ToolName, ToolType, ToolCallID, ToolArguments, ToolResult, SystemInstructions,
		InputMessages, OutputMessages, PromptName, HandoffFrom, HandoffTo, SessionID, UserID, ErrorType, HTTPMethod, HTTPStatus,
		HTTPKeyHeader, URLFull, URLPath, DBOperation, DBSystem, RPCSystem, RPCStatus, ServiceName, ServiceInstanceID,
		ExceptionType, ExceptionMessage, EventName:
		return true
	}
	return false
}
