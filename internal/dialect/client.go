package dialect

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
)

// client reads what one client says in its own way, in whatever dialect its spans
// are written: several instrumentations write the spans of one client, and several
// clients write the names of OTel GenAI. It runs after the dialect's file.
type client func(span ptrace.Span, l *look, st *canon.Stated)

// clientOf gives the client that a scope names; nil for a scope that says no more
// than its dialect.
func clientOf(scope string) client {
	switch scope {
	case "pydantic-ai":
		return pydanticAI
	case "strands.telemetry.tracer":
		return strands
	case "gcp.vertex.agent":
		return adk
	case "agent_framework":
		return agentFramework
	case "opentelemetry.instrumentation.openai_agents", "opentelemetry.instrumentation.genai.openai_agents", "logfire.openai_agents",
		"openinference.instrumentation.openai_agents", "@arizeai/openinference-instrumentation-openai-agents":
		return openAIAgents
	case "gen_ai":
		return vercelAgent
	case "livekit-agents":
		return liveKitTool
	case "openinference.instrumentation.crewai":
		return crewAICache
	}
	return nil
}
