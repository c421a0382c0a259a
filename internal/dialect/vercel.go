package dialect

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// vercelAI reads the spans of the Vercel AI SDK 4 to 6: ai.* attributes, of which
// model calls repeat some as gen_ai.*. Version 7 writes OTel GenAI.
func vercelAI(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	vercelOperation(at, st)
	if st.Op == agent.OpModel || st.Op == agent.OpAgent {
		vercelOutput(at, st)
		vercelTools(at)
	}
	if st.Op == agent.OpAgent {
		vercelPrompt(at)
		vercelOpen(span, st)
	}
	moveAll(at, vercelName)
	renameProvider(at, vercelProvider)
}

func vercelOperation(at pcommon.Map, st *canon.Stated) {
	id := ""
	if v, ok := at.Get("ai.operationId"); ok {
		id = text(v)
	} else if v, ok := at.Get("operation.name"); ok {
		id, _, _ = strings.Cut(text(v), " ")
	}
	switch id {
	case "ai.generateText.doGenerate", "ai.streamText.doStream", "ai.generateObject.doGenerate", "ai.streamObject.doStream":
		byDialect(st, agent.OpModel, agent.KindThink)
	case "ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject":
		byDialect(st, agent.OpAgent, agent.KindUnset)
	case "ai.toolCall":
		byDialect(st, agent.OpTool, agent.KindUnset)
	case "ai.embed.doEmbed", "ai.embedMany.doEmbed", "ai.rerank.doRerank":
		byEvidence(st, agent.OpRetrieval)
	case "ai.embed", "ai.embedMany", "ai.rerank":
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
}

// vercelName gives the canonical name of an attribute; those of which messages
// and tools were made have none.
func vercelName(k string) string {
	if !strings.HasPrefix(k, "ai.") {
		return ""
	}
	switch k {
	case "ai.telemetry.functionId":
		return canon.AgentName
	case "ai.toolCall.name":
		return canon.ToolName
	case "ai.toolCall.id":
		return canon.ToolCallID
	case "ai.toolCall.args":
		return canon.ToolArguments
	case "ai.toolCall.result":
		return canon.ToolResult
	case "ai.prompt.messages":
		return canon.InputMessages
	case "ai.model.provider":
		return canon.ProviderName
	case "ai.model.id":
		return canon.RequestModel
	case "ai.response.model":
		return canon.ResponseModel
	case "ai.response.id":
		return canon.ResponseID
	case "ai.response.finishReason", "ai.finishReason":
		return canon.FinishReasons
	case "ai.settings.temperature":
		return canon.RequestTemperature
	case "ai.settings.topP":
		return canon.RequestTopP
	case "ai.settings.maxOutputTokens", "ai.settings.maxTokens":
		return canon.RequestMaxTokens
	case "ai.settings.seed":
		return canon.RequestSeed
	case "ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens":
		return canon.InputTokens
	case "ai.usage.outputTokens", "ai.usage.completionTokens":
		return canon.OutputTokens
	case "ai.usage.cachedInputTokens", "ai.usage.inputTokenDetails.cacheReadTokens":
		return canon.CacheReadTokens
	case "ai.usage.inputTokenDetails.cacheWriteTokens":
		return canon.CacheWriteTokens
	case "ai.usage.reasoningTokens", "ai.usage.outputTokenDetails.reasoningTokens":
		return canon.ReasoningTokens
	case "ai.response.text", "ai.response.reasoning", "ai.response.object", "ai.response.toolCalls", "ai.prompt.tools",
		"ai.result.text", "ai.result.object", "ai.result.toolCalls":
		return dropped
	}
	return ""
}

// vercelOutput makes the answer's message of its text and calls, which stand
// apart. Version 3 called them results.
func vercelOutput(at pcommon.Map, st *canon.Stated) {
	var said, thought, object, calls, finish string
	for k, v := range at.All() {
		switch k {
		case "ai.response.text", "ai.result.text":
			said = text(v)
		case "ai.response.reasoning":
			thought = text(v)
		case "ai.response.object", "ai.result.object":
			object = text(v)
		case "ai.response.toolCalls", "ai.result.toolCalls":
			calls = text(v)
		case "ai.response.finishReason", "ai.finishReason":
			finish = text(v)
		}
	}
	if said+thought+object+calls == "" {
		return
	}
	var l messageList
	l.buf = make([]byte, 0, len(said)+len(thought)+len(object)+len(calls)+256)
	l.begin("assistant")
	if thought != "" {
		l.buf = cjson.AppendQuoted(append(l.buf, `{"type":"reasoning","content":`...), thought)
		l.buf = append(l.buf, '}')
	}
	l.text(said)
	l.text(object)
	sc := cjson.Scan(calls)
	for sc.Array(); sc.Next(); {
		var id, name, arguments string
		for sc.Object(); sc.Next(); {
			switch sc.Key() {
			case "toolCallId":
				id = sc.Text()
			case "toolName":
				name = sc.Text()
			case "input", "args":
				arguments = sc.Raw()
			}
		}
		l.call(id, name, unfolded(arguments))
		if st.Op == agent.OpAgent {
			waitsOutside(st, id)
		}
	}
	l.end(finish)
	l.put(at, canon.OutputMessages)
}

// waitsOutside notes that an agent gave a call back to its application: it waits
// for a person, or for what the application does itself. That of a call which has
// run says nothing.
func waitsOutside(st *canon.Stated, id string) {
	if id != "" {
		addWord(st, agent.CallWord{ID: id, Sign: agent.SignDeferred, Outside: true})
	}
}

// vercelOpen: an agent that was ended by a call of a tool that is not there, or by
// arguments that do not fit, ran none of the calls of that answer.
func vercelOpen(span ptrace.Span, st *canon.Stated) {
	for _, ev := range span.Events().All() {
		v, ok := ev.Attributes().Get(canon.ExceptionType)
		if !ok || ev.Name() != canon.ExceptionEvent {
			continue
		}
		switch text(v) {
		case "AI_NoSuchToolError", "AI_InvalidToolArgumentsError", "AI_InvalidToolInputError":
			st.Open = agent.SignRefused
		}
	}
}

// vercelAgent reads what an agent of version 7, whose spans are OTel GenAI, gave
// back: its output holds all calls of the run, with the answers of those that it
// ran.
func vercelAgent(span ptrace.Span, _ *look, st *canon.Stated) {
	if st.Op != agent.OpAgent {
		return
	}
	vercelOpen(span, st)
	v, ok := span.Attributes().Get(canon.OutputMessages)
	if !ok || !strings.Contains(v.Str(), `"tool_call"`) {
		return
	}
	sc := cjson.Scan(v.Str())
	for sc.Array(); sc.Next(); {
		for sc.Object(); sc.Next(); {
			if sc.Key() != "parts" {
				continue
			}
			for sc.Array(); sc.Next(); {
				var typ, id string
				for sc.Object(); sc.Next(); {
					switch sc.Key() {
					case "type":
						typ = sc.Text()
					case "id":
						id = sc.Text()
					}
				}
				switch typ {
				case "tool_call":
					waitsOutside(st, id)
				case "tool_call_response":
					st.Words = slices.DeleteFunc(st.Words, func(w agent.CallWord) bool { return w.ID == id })
				}
			}
		}
	}
}

// vercelTools makes one list of the tools that were offered, each a JSON text.
func vercelTools(at pcommon.Map) {
	v, ok := at.Get("ai.prompt.tools")
	if !ok || v.Type() != pcommon.ValueTypeSlice {
		return
	}
	var list []byte
	for _, tool := range v.Slice().All() {
		if s := text(tool); cjson.Valid(s) {
			if list == nil {
				list = append(make([]byte, 0, v.Slice().Len()*(len(s)+16)), '[')
			} else {
				list = append(list, ',')
			}
			list = append(list, s...)
		}
	}
	putMissing(at, toolDefinitions, list)
}

// vercelPrompt takes what the application gave an agent: system instructions, and
// messages or a lone text.
func vercelPrompt(at pcommon.Map) {
	v, ok := at.Get("ai.prompt")
	if !ok {
		return
	}
	raw := text(v)
	var system, prompt, messages string
	sc := cjson.Scan(raw)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "system":
			system = sc.Text()
		case "prompt":
			prompt = sc.Raw()
		case "messages":
			messages = sc.Raw()
		}
	}
	if !sc.End() {
		return
	}
	if messages == "" && strings.HasPrefix(prompt, "[") {
		messages = prompt
	}
	putNew(at, canon.SystemInstructions, system)
	if messages != "" {
		putNew(at, canon.InputMessages, messages)
	} else if prompt != "" {
		var l messageList
		l.begin("user")
		l.text(cjson.Text(prompt))
		l.end("")
		l.put(at, canon.InputMessages)
	}
	at.Remove("ai.prompt")
}

// vercelProvider takes the provider out of the name of a provider's API, such as
// openai.chat.
func vercelProvider(s string) string {
	switch {
	case strings.HasPrefix(s, "google.vertex"):
		return "gcp.vertex_ai"
	case strings.HasPrefix(s, "google."):
		return "gcp.gemini"
	case strings.HasPrefix(s, "azure"):
		return "azure.ai.openai"
	case strings.HasPrefix(s, "amazon-bedrock"):
		return "aws.bedrock"
	}
	name, api, ok := strings.Cut(s, ".")
	if !ok {
		return s
	}
	switch api {
	case "chat", "responses", "messages", "completion", "embedding", "generative-ai", "image":
	default:
		return s
	}
	switch name {
	case "mistral":
		return "mistral_ai"
	case "xai":
		return "x_ai"
	}
	return name
}
