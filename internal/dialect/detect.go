package dialect

import "go.opentelemetry.io/collector/pdata/ptrace"

// Dialect names what a span was written in.
type Dialect uint8

// The dialects, in the order in which Detect tries them. The zero value is a
// span of none.
const (
	None Dialect = iota
	ClaudeCode
	OpenInference
	VercelAI
	Langfuse
	LangSmith
	Mastra
	AnthropicSDK
	CrewAI
	Logfire
	AgentOps
	Laminar
	Braintrust
	OpenLIT
	OpenLLMetry
	OTelGenAI
	AutoGenRuntime
	MCP
	ADK
	MLflow
	Genkit
	LiveKit
	Haystack
	Temporal
	AgentTelemetry
	Explicit
	ToolOnly
	ModelOnly
	HTTP
	Database
	RPC
)

var names = [...]string{
	"", "claude_code", "openinference", "vercel_ai", "langfuse", "langsmith", "mastra", "anthropic_sdk", "crewai", "logfire",
	"agentops", "laminar", "braintrust", "openlit", "openllmetry", "otel_genai", "autogen_runtime", "mcp", "adk", "mlflow",
	"genkit", "livekit", "haystack", "temporal", "agenttelemetry", "explicit", "tool_only", "model_only", "http", "database", "rpc",
}

// String gives the name of the dialect; empty for None.
func (d Dialect) String() string {
	if int(d) < len(names) {
		return names[d]
	}
	return ""
}

// Detect tells the dialect of one span: it is decided per span, since one
// process mixes them. The first match wins. agent.* attributes go before
// everything that a dialect says, field by field, so a span that carries them
// beside a dialect's own is read in that dialect; it is Explicit where no
// instrumentation wrote it.
func Detect(scope string, span ptrace.Span) Dialect {
	l := lookAt(scope, span, nil)
	return l.detect()
}

func (l *look) detect() Dialect {
	switch {
	// Libraries with names of their own. Several also write gen_ai.operation.name,
	// with values or places of their own, so they come before OTelGenAI.
	case l.has(markClaude):
		return ClaudeCode
	case l.has(markInference):
		return OpenInference
	case l.has(markVercel):
		return VercelAI
	case l.has(markLangfuse):
		return Langfuse
	case l.has(markLangSmith):
		return LangSmith
	case l.has(markMastra):
		return Mastra
	case l.has(markAnthropic) && l.has(markGenAI):
		return AnthropicSDK
	case l.has(markCrewAI):
		return CrewAI
	case l.has(markLogfire):
		return Logfire
	case l.has(markAgentOps):
		return AgentOps
	case l.has(markLaminar):
		return Laminar
	case l.has(markBraintrust):
		return Braintrust
	case l.has(markOpenLIT):
		return OpenLIT
	case l.has(markTraceloop):
		return OpenLLMetry

	// The common names, also where an MCP SDK writes them (tools/call).
	case l.has(markGenAI):
		return OTelGenAI

	// Libraries that write no gen_ai.operation.name.
	case l.has(markAutoGen):
		return AutoGenRuntime
	case l.has(markMCP):
		return MCP
	case l.has(markADK):
		return ADK
	case l.has(markMLflow):
		return MLflow
	case l.has(markGenkit):
		return Genkit
	case l.has(markLiveKit):
		return LiveKit
	case l.has(markHaystack):
		return Haystack
	case l.has(markTemporal):
		return Temporal
	case l.has(markTelemetry):
		return AgentTelemetry

	// What the user says of a span by hand goes before the guesses below.
	case l.has(markStepKind | markGate):
		return Explicit
	case l.has(markTool):
		return ToolOnly
	case l.has(markModel):
		return ModelOnly
	case l.has(markHTTP):
		return HTTP
	case l.has(markDB):
		return Database
	case l.has(markRPC):
		return RPC
	case l.has(markRunID):
		return Explicit
	default:
		return None
	}
}
