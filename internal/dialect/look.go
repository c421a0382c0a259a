package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
)

// mark says that an attribute, or a scope, of a kind was seen.
type mark uint64

const (
	markOwn       mark = 1 << iota // any agent.* attribute of ours
	markStepKind                   // agent.step.kind
	markRunID                      // agent.run.id
	markGate                       // agent.gate.decision
	markClaude                     // Claude Code
	markInference                  // OpenInference
	markVercel                     // Vercel AI SDK 4 to 6
	markLangfuse
	markLangSmith
	markMastra
	markAnthropic // the Anthropic SDK's own spans
	markCrewAI
	markLogfire // Logfire's own instrumentation
	markAgentOps
	markLaminar
	markBraintrust
	markOpenLIT
	markGenAI   // gen_ai.operation.name
	markAutoGen // AutoGen's runtime
	markMCP
	markTraceloop // OpenLLMetry
	markADK
	markMLflow
	markGenkit
	markLiveKit
	markHaystack
	markTemporal
	markTelemetry // AgentTelemetry
	markTool      // gen_ai.tool.name or gen_ai.tool.call.id
	markModel     // a model's name
	markHTTP
	markDB
	markRPC

	markOld        // a deprecated name
	markStructured // content that is no string
	markResult     // a tool's result
	markHeader     // a captured request header
	markDatastore  // gen_ai.tool.type = datastore
	markPlainID    // a tool call id that stands for "none"
	markUsage      // token counts, or messages
	markFlat       // messages that came flattened under deprecated names
	markJoin       // finish reasons as JSON in a text
	markMetadata   // what an application says of its run under a client's prefix
	markAgentsSDK  // instrumentation of the OpenAI Agents SDK
)

// look is what one pass over a span's attributes saw.
type look struct {
	marks     mark
	operation string // gen_ai.operation.name
	database  string // database operation
	run       string // explicit run id of a dialect
	runRank   int    // rank of the name it came under
	bareRun   string // run_id: a run's id only beside Temporal's own names
	client    client // what reads the habits of the client that the scope names
	app       metadata
}

func (l *look) has(m mark) bool { return l.marks&m != 0 }

// lookAt passes over a span once.
func lookAt(scope string, span ptrace.Span, runKeys []string) look {
	l := look{runRank: noRun, app: metadata{rank: noSession}}
	l.scope(scope)
	l.client = clientOf(scope)
	l.name(span.Name(), scope)
	for k, v := range span.Attributes().All() {
		l.attribute(k, v, runKeys)
	}
	if l.bareRun != "" && l.has(markTemporal) && l.runRank > rankTemporalTS {
		l.run, l.runRank = l.bareRun, rankTemporalTS
	}
	return l
}

func (l *look) scope(scope string) {
	switch scope {
	case "":
	case "com.anthropic.sdk.python":
		l.marks |= markAnthropic
	case "ai":
		l.marks |= markVercel
	case "crewai":
		l.marks |= markCrewAI
	case "langfuse-sdk":
		l.marks |= markLangfuse
	case "mcp-python-sdk", "fastmcp":
		l.marks |= markMCP
	case "livekit-agents":
		l.marks |= markLiveKit
	case "@mastra/otel-exporter":
		l.marks |= markMastra
	case "logfire.openai_agents", "logfire.openai", "logfire.anthropic":
		l.marks |= markLogfire
	default:
		switch {
		case strings.HasPrefix(scope, "com.anthropic.claude_code."):
			l.marks |= markClaude
		case strings.HasPrefix(scope, "@langfuse/"):
			l.marks |= markLangfuse
		case strings.HasPrefix(scope, "opentelemetry.instrumentation.crewai"):
			l.marks |= markTraceloop
		case strings.HasPrefix(scope, "openlit"):
			l.marks |= markOpenLIT
		case strings.HasPrefix(scope, "autogen "):
			l.marks |= markAutoGen
		case strings.HasSuffix(scope, "openai_agents"), strings.HasSuffix(scope, "openai-agents"):
			l.marks |= markAgentsSDK
		}
	}
}

func (l *look) name(name, scope string) {
	switch {
	case strings.HasPrefix(name, "claude_code."):
		l.marks |= markClaude
	case strings.HasPrefix(name, "haystack."):
		l.marks |= markHaystack
	case name == "call_llm", scope == "gcp.vertex.agent" && (name == "invocation" || strings.HasPrefix(name, "agent_run [")):
		l.marks |= markADK
	case strings.HasPrefix(name, "autogen "):
		l.marks |= markAutoGen
	}
}

func (l *look) attribute(k string, v pcommon.Value, runKeys []string) {
	if rank := rankOf(k, runKeys); rank < l.runRank {
		if id := text(v); id != "" {
			l.run, l.runRank = id, rank
		}
	}
	switch k {
	case "run_id":
		l.bareRun = text(v)
	case canon.OperationName:
		l.marks |= markGenAI
		l.operation = text(v)
	case canon.ToolName:
		l.marks |= markTool
	case canon.ToolCallID:
		if isPlainID(v) {
			l.marks |= markPlainID
		} else {
			l.marks |= markTool
		}
	case canon.ToolType:
		if v.Type() == pcommon.ValueTypeStr && v.Str() == "datastore" {
			l.marks |= markDatastore
		}
	case canon.ToolResult:
		l.marks |= markResult
		l.structured(v)
	case canon.InputMessages, canon.OutputMessages:
		l.marks |= markUsage
		l.structured(v)
	case canon.ToolArguments, canon.SystemInstructions, toolDefinitions:
		l.structured(v)
	case canon.FinishReasons:
		if v.Type() == pcommon.ValueTypeStr && strings.HasPrefix(v.Str(), "[") {
			l.marks |= markJoin
		}
	case canon.InputTokens, canon.OutputTokens, "gen_ai.request.type":
		l.marks |= markUsage
	case canon.RequestModel, canon.ResponseModel, "llm.model_name":
		l.marks |= markModel
	case canon.StepKind:
		l.marks |= markOwn | markStepKind
	case canon.RunID:
		l.marks |= markOwn | markRunID
	case canon.GateDecision:
		l.marks |= markOwn | markGate
	case "openinference.span.kind":
		l.marks |= markInference
	case "ai.operationId":
		l.marks |= markVercel
	case "operation.name":
		if v.Type() == pcommon.ValueTypeStr && strings.HasPrefix(v.Str(), "ai.") {
			l.marks |= markVercel
		}
	case "langfuse.observation.type":
		l.marks |= markLangfuse
	case "langsmith.span.kind":
		l.marks |= markLangSmith
	case "mastra.span.type":
		l.marks |= markMastra
	case "crewai.execution_uuid":
		l.marks |= markCrewAI
	case "agentops.span.kind":
		l.marks |= markAgentOps
	case "lmnr.span.type":
		l.marks |= markLaminar
	case "braintrust.span_attributes":
		l.marks |= markBraintrust
	case "mcp.method.name":
		l.marks |= markMCP
	case "traceloop.span.kind", "llm.request.type":
		l.marks |= markTraceloop
	case "gcp.vertex.agent.llm_request":
		l.marks |= markADK
	case "mlflow.spanType":
		l.marks |= markMLflow
	case "genkit:type", "genkit:metadata:subtype":
		l.marks |= markGenkit
	case "temporalRunID", "temporalActivityID", "temporalActivityId", "temporalWorkflowID", "temporalWorkflowId":
		l.marks |= markTemporal
	case "agenttelemetry.span.kind":
		l.marks |= markTelemetry
	case canon.HTTPMethod:
		l.marks |= markHTTP
	case "http.method":
		l.marks |= markHTTP | markOld
	case "operation.cost":
		l.marks |= markOld
	case canon.DBSystem, canon.DBOperation:
		l.marks |= markDB
		l.operationOf(k, v)
	case "db.system", "db.operation":
		l.marks |= markDB | markOld
		l.operationOf(k, v)
	case canon.RPCSystem, "rpc.system.name":
		l.marks |= markRPC
	default:
		l.other(k)
	}
}

// other looks at names that are told by their beginning.
func (l *look) other(k string) {
	switch {
	case strings.HasPrefix(k, canon.Prefix):
		l.marks |= markOwn
	case strings.HasPrefix(k, "gen_ai."):
		switch newName(k) {
		case "":
			if _, _, _, ok := flatGenAI(k); ok {
				l.marks |= markFlat | markUsage
			}
		case canon.InputTokens, canon.OutputTokens:
			l.marks |= markOld | markUsage
		default:
			l.marks |= markOld
		}
	case strings.HasPrefix(k, "ai."), strings.HasPrefix(k, "traceloop."), strings.HasPrefix(k, "mastra."):
		if newName(k) != "" {
			l.marks |= markOld
		}
		if _, ok := metadataKey(k); ok {
			l.marks |= markMetadata
		}
	case strings.HasPrefix(k, headerPrefix):
		l.marks |= markHeader
	case strings.HasPrefix(k, "haystack."):
		l.marks |= markHaystack
	case strings.HasPrefix(k, "http."), strings.HasPrefix(k, "net."):
		if newName(k) != "" {
			l.marks |= markOld
		}
	}
}

func (l *look) structured(v pcommon.Value) {
	switch v.Type() {
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		l.marks |= markStructured
	}
}

func (l *look) operationOf(k string, v pcommon.Value) {
	if k == canon.DBOperation || k == "db.operation" {
		l.database = text(v)
	}
}

// isPlainID: some clients write a word where they have no tool call id.
func isPlainID(v pcommon.Value) bool {
	return v.Type() == pcommon.ValueTypeStr && isNoID(v.Str())
}

func isNoID(id string) bool {
	switch id {
	case "", "unknown", "<not specified>", "None", "null", "undefined":
		return true
	}
	return false
}
