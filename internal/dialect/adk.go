package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// adkFrame reads Google ADK's spans that have no operation name: call_llm, the
// frame of a generate_content, and in the first schema the only place of its
// content; up to 1.16 also an agent, which only its name tells, and the invocation
// around it.
func adkFrame(span ptrace.Span, _ *look, st *canon.Stated) {
	name, isAgent := strings.CutPrefix(span.Name(), "agent_run [")
	switch {
	case isAgent:
		byDialect(st, agent.OpAgent, agent.KindUnset)
		putNew(span.Attributes(), canon.AgentName, strings.TrimSuffix(name, "]"))
	case name == "invocation":
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	default:
		byDialect(st, agent.OpModel, agent.KindThink)
	}
}

// adk reads what Google ADK adds to OTel GenAI, in both schemas.
func adk(span ptrace.Span, l *look, st *canon.Stated) {
	at := span.Attributes()
	var request, response string
	off := 0
	for k, v := range at.All() {
		switch k {
		case "gcp.vertex.agent.llm_request":
			request = text(v)
		case "gcp.vertex.agent.llm_response":
			response = text(v)
		case "gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response":
			if text(v) == "{}" {
				off++
			}
		}
	}
	if st.Op == agent.OpModel {
		adkContent(at, request, response)
	}
	contentOff := off == 2                                  // with content off both are empty
	named := span.Name() == "call_llm" || l.operation != "" // else only its request tells a model call
	moveAll(at, func(k string) string {
		switch k {
		case "gcp.vertex.agent.session_id":
			return canon.ConversationID
		case "gcp.vertex.agent.tool_call_args":
			if !contentOff {
				return canon.ToolArguments
			}
			return dropped
		case "gcp.vertex.agent.tool_response":
			if !contentOff {
				return canon.ToolResult
			}
			return dropped
		case "gcp.vertex.agent.llm_request":
			if named {
				return dropped
			}
		case "gcp.vertex.agent.llm_response":
			return dropped
		}
		return ""
	})
}

// adkContent takes a request and a response in Gemini's shape apart.
func adkContent(at pcommon.Map, request, response string) {
	var contents, system, served string
	sc := cjson.Scan(request)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "contents":
			contents = sc.Raw()
		case "config":
			for sc.Object(); sc.Next(); {
				if sc.Key() == "system_instruction" {
					system = sc.Text()
				}
			}
		}
	}
	if sc.End() {
		putNew(at, canon.InputMessages, contents)
		putNew(at, canon.SystemInstructions, system)
	}
	content := ""
	sc = cjson.Scan(response)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "content":
			content = sc.Raw()
		case "model_version":
			served = sc.Text()
		}
	}
	if sc.End() && served != "null" {
		putNew(at, canon.ResponseModel, served)
	}
	if sc.End() && content != "" && content != "null" {
		putNew(at, canon.OutputMessages, "["+content+"]")
	}
}
