package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// pydanticAI reads what Pydantic AI adds to OTel GenAI, or to OpenInference, in all
// its formats. Version 1 has spans without an operation name: those of the agent
// and of tools, in the old format.
func pydanticAI(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	if st.Op == agent.OpNone && span.Name() == "agent run" {
		byDialect(st, agent.OpAgent, agent.KindUnset)
		st.Dialect = OTelGenAI.String()
	}
	var events, final string
	isOutside := false
	for k, v := range at.All() {
		switch k {
		case "pydantic_ai.model_request.attempt":
			byDialect(st, agent.OpModel, agent.KindThink)
		case "pydantic_ai.tool.failure_stage":
			st.Refused = st.Refused || text(v) == "validation"
		case "pydantic_ai.tool.deferral.name":
			st.Deferred = true
			isOutside = isOutside || text(v) == "CallDeferred"
		case "logfire.msg":
			msg := text(v)
			st.Refused = st.Refused || strings.HasPrefix(msg, "invalid tool call:")
			st.OutputFunction = st.OutputFunction || strings.HasPrefix(msg, "running output function:")
		case "final_result":
			final = text(v)
		case "events", "all_messages_events":
			events = text(v)
		}
	}
	if isOutside {
		addWord(st, outside(at))
	}
	if span.Name() == "running output function" {
		st.OutputFunction = true
	}
	switch st.Op {
	case agent.OpAgent:
		pydanticRoot(span, final, st)
		moveAll(at, pydanticRootName)
		if putEvents(at, events, true) {
			at.Remove("all_messages_events")
		}
	case agent.OpModel:
		withoutZeroCost(at)
		if putEvents(at, events, false) {
			at.Remove("events")
		}
		moveAll(at, pydanticName)
	default:
		moveAll(at, pydanticName)
	}
}

// outside is the word that a call waits for work outside.
func outside(at pcommon.Map) (w agent.CallWord) {
	w.Sign, w.Outside = agent.SignDeferred, true
	if id, ok := at.Get(canon.ToolCallID); ok {
		w.ID = text(id)
	}
	return w
}

// pydanticRoot reads the end of an agent's run: the calls that its result leaves
// to a person or to work outside, and the limit behind which none ran.
func pydanticRoot(span ptrace.Span, final string, st *canon.Stated) {
	if strings.HasPrefix(span.Status().Message(), "UsageLimitExceeded") || hasException(span, "UsageLimitExceeded") {
		st.Open = agent.SignRefused
	}
	if !strings.HasPrefix(final, "{") || !strings.Contains(final, `"approvals"`) {
		return
	}
	sc := cjson.Scan(final)
	for sc.Object(); sc.Next(); {
		switch key := sc.Key(); key {
		case "approvals", "calls":
			for sc.Array(); sc.Next(); {
				for sc.Object(); sc.Next(); {
					if sc.Key() == "tool_call_id" {
						addWord(st, agent.CallWord{ID: sc.Text(), Sign: agent.SignDeferred, Outside: key == "calls"})
					}
				}
			}
		}
	}
	if sc.Err() != nil {
		st.Words = st.Words[:0] // a text that only looks like one
	}
}

// pydanticName gives the canonical name of an attribute of a model call or tool.
func pydanticName(k string) string {
	switch k {
	case "tool_arguments":
		return canon.ToolArguments
	case "tool_response":
		return canon.ToolResult
	case "gen_ai.usage.details.cache_read_tokens":
		return canon.CacheReadTokens
	case "gen_ai.usage.details.cache_write_tokens":
		return canon.CacheWriteTokens
	case "gen_ai.usage.details.reasoning_tokens":
		return canon.ReasoningTokens
	}
	return ""
}

// pydanticRootName gives that of an agent, whose usage is a sum and whose messages
// are its whole conversation.
func pydanticRootName(k string) string {
	switch k {
	case "agent_name":
		return canon.AgentName
	case "pydantic_ai.all_messages", "all_messages":
		return canon.InputMessages
	case "gen_ai.aggregated_usage.input_tokens":
		return canon.InputTokens
	case "gen_ai.aggregated_usage.output_tokens":
		return canon.OutputTokens
	case "gen_ai.aggregated_usage.cache_read.input_tokens", "gen_ai.aggregated_usage.details.cache_read_tokens":
		return canon.CacheReadTokens
	case "gen_ai.aggregated_usage.details.reasoning_tokens":
		return canon.ReasoningTokens
	}
	return pydanticName(k)
}
