package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// claudeCode reads Claude Code's own spans: an interaction is the agent, a tool
// has its permission and its execution as children. A hook is no step.
func claudeCode(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	switch span.Name() {
	case "claude_code.interaction":
		byDialect(st, agent.OpAgent, agent.KindUnset)
	case "claude_code.llm_request":
		byDialect(st, agent.OpModel, agent.KindThink)
		claudeModel(span, st)
	case "claude_code.tool":
		byDialect(st, agent.OpTool, agent.KindUnset)
		claudeTool(span)
	case "claude_code.tool.execution":
		byDialect(st, agent.OpTool, agent.KindUnset)
	case "claude_code.tool.blocked_on_user":
		claudePermission(at, st)
	}
	if v, ok := at.Get("success"); ok && text(v) == "false" {
		st.Failed = true
	}
	moveAll(at, claudeName)
}

// claudeName gives the canonical name of an attribute; those of which arguments
// were made have none.
func claudeName(k string) string {
	switch k {
	case "model":
		return canon.RequestModel
	case "request_id":
		return canon.ResponseID
	case "stop_reason":
		return canon.FinishReasons
	case "output_tokens":
		return canon.OutputTokens
	case "cache_read_tokens":
		return canon.CacheReadTokens
	case "cache_creation_tokens":
		return canon.CacheWriteTokens
	case "status_code":
		return canon.HTTPStatus
	case "tool_name":
		return canon.ToolName
	case "tool_use_id":
		return canon.ToolCallID
	case "agent_id":
		return canon.AgentID
	case "error":
		return canon.ErrorType
	case "full_command", "file_path", "skill_name", "subagent_type":
		return dropped
	}
	return ""
}

// claudeModel adds what was read from and written to the cache to the input,
// which does not hold it, and counts the attempts.
func claudeModel(span ptrace.Span, st *canon.Stated) {
	var input, cached int64
	known := false
	for k, v := range span.Attributes().All() {
		switch k {
		case "input_tokens":
			input, known = tally(v), true
		case "cache_read_tokens", "cache_creation_tokens":
			cached += tally(v)
		case "attempt":
			st.Attempts = int(min(tally(v), maxAttempts))
		}
	}
	if at := span.Attributes(); known {
		at.Remove("input_tokens")
		at.PutInt(canon.InputTokens, input+cached)
	}
	listed := 0
	for _, ev := range span.Events().All() {
		if ev.Name() == "gen_ai.request.attempt" {
			listed++
		}
	}
	st.Attempts = max(st.Attempts, min(listed, maxAttempts))
}

// claudeTool makes arguments and result of what an operator allowed to be sent. A
// shell command is all that its tool got. A path or a name is not: what was
// written there is missing, so that such arguments compare to nothing.
func claudeTool(span ptrace.Span) {
	var args []byte
	complete := true
	add := func(key, value string) {
		if args == nil {
			args = append(args, '{')
		} else {
			args = append(args, ',')
		}
		args = append(cjson.AppendQuoted(args, key), ':')
		args = cjson.AppendQuoted(args, value)
	}
	at := span.Attributes()
	for k, v := range at.All() {
		switch k {
		case "full_command":
			add(k, text(v))
		case "file_path", "skill_name", "subagent_type":
			complete = false
			add(k, text(v))
		}
	}
	if args != nil {
		if !complete {
			add("content", "<REDACTED>")
		}
		putNew(at, canon.ToolArguments, string(append(args, '}')))
	}
	for _, ev := range span.Events().All() {
		if ev.Name() != "tool.output" {
			continue
		}
		for _, key := range [...]string{"output", "content"} {
			if v, ok := ev.Attributes().Get(key); ok {
				putNew(at, canon.ToolResult, text(v))
				break
			}
		}
	}
	span.Events().RemoveIf(func(ev ptrace.SpanEvent) bool { return ev.Name() == "tool.output" })
}

// claudePermission reads who let a tool run or turned it away: a person, or
// settings and hooks, which are none.
func claudePermission(at pcommon.Map, st *canon.Stated) {
	decision, source := "", ""
	for k, v := range at.All() {
		switch k {
		case "decision":
			decision = canon.DecisionSpelling(text(v))
		case "source":
			source = text(v)
		}
	}
	if isDecision(decision) {
		putNew(at, canon.HumanDecision, decision)
	}
	if source != "config" && source != "hook" {
		byDialect(st, agent.OpHuman, agent.KindHuman)
	}
}
