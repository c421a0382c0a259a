package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// haystack reads Haystack's spans: what a span is stands in its name, and nothing
// is ever marked as an error by its status.
func haystack(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	var out, component string
	failed := false
	for k, v := range at.All() {
		switch k {
		case "haystack.agent.step.llm.output", "haystack.agent.step.tool.output", "haystack.agent.output":
			out = text(v)
		case "haystack.component.type":
			component = text(v)
		case "haystack.tool.error":
			failed = v.Type() == pcommon.ValueTypeBool && v.Bool()
		}
	}
	switch name := span.Name(); name {
	case "haystack.agent.step.llm", "haystack.chat_generator.run":
		byDialect(st, agent.OpModel, agent.KindThink)
		haystackReplies(at, out)
		if _, ok := at.Get(canon.OutputMessages); ok {
			at.Remove("haystack.agent.step.llm.output")
		}
	case "haystack.agent.step.tool":
		byDialect(st, agent.OpTool, agent.KindUnset)
		if failed {
			haystackError(span, out, st)
		}
	case "haystack.agent.run":
		byDialect(st, agent.OpAgent, agent.KindUnset)
		putMember(at, canon.InputMessages, out, "messages", false)
		if _, ok := at.Get(canon.InputMessages); ok {
			at.Remove("haystack.agent.output")
		}
	case "haystack.component.run":
		byDialect(st, agent.OpWorkflow, agent.KindOther)
		if strings.HasSuffix(component, "ChatGenerator") {
			byDialect(st, agent.OpModel, agent.KindThink)
		}
	default:
		byDialect(st, agent.OpWorkflow, agent.KindOther)
		if strings.HasSuffix(name, ".human_in_the_loop.strategy") {
			haystackDecision(at, st)
		}
	}
	moveAll(at, haystackName)
}

func haystackName(k string) string {
	switch k {
	case "haystack.tool.name":
		return canon.ToolName
	case "haystack.tool.call.id":
		return canon.ToolCallID
	case "haystack.agent.step.tool.input":
		return canon.ToolArguments
	case "haystack.agent.step.tool.output":
		return canon.ToolResult
	}
	return ""
}

// haystackReplies takes a model's answer, and what it says of itself, out of its
// replies.
func haystackReplies(at pcommon.Map, out string) {
	putMember(at, canon.OutputMessages, out, "replies", false)
	sc := cjson.Scan(out)
	for sc.Object(); sc.Next(); {
		if sc.Key() != "replies" {
			continue
		}
		for sc.Array(); sc.Next(); {
			for sc.Object(); sc.Next(); {
				if sc.Key() == "meta" {
					haystackMeta(at, sc.Raw())
				}
			}
		}
	}
}

func haystackMeta(at pcommon.Map, meta string) {
	sc := cjson.Scan(meta)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "model":
			putNew(at, canon.ResponseModel, stringOf(&sc))
		case "finish_reason":
			putNew(at, canon.FinishReasons, stringOf(&sc))
		case "usage":
			putUsage(at, sc.Raw())
		}
	}
}

// haystackError: what follows "Error: " in a failed tool's result is the text of
// its exception; what stands before it repeats the call.
func haystackError(span ptrace.Span, out string, st *canon.Stated) {
	st.Failed = true
	said, ok := cjson.Lookup(out, "error")
	if !ok {
		said = out
	}
	if i := strings.LastIndex(said, "Error: "); i >= 0 {
		said = said[i+len("Error: "):]
	}
	if said == "" {
		return
	}
	describe(span, said)
	span.Attributes().PutStr("haystack.agent.step.tool.output", said)
}

// haystackDecision reads what a person decided of a call. One that was turned away
// has no span.
func haystackDecision(at pcommon.Map, st *canon.Stated) {
	var id, decision string
	for k, v := range at.All() {
		switch {
		case k == "haystack.tool.call.id":
			id = text(v)
		case strings.HasSuffix(k, ".strategy.decision"):
			decision = canon.DecisionSpelling(text(v))
		}
	}
	byDialect(st, agent.OpHuman, agent.KindHuman)
	if isDecision(decision) {
		putNew(at, canon.HumanDecision, decision)
	}
	if decision == agent.DecisionRejected.String() && id != "" {
		addWord(st, agent.CallWord{ID: id, Sign: agent.SignRefused})
	}
}
