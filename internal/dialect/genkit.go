package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// genkit reads Genkit's spans. A span's input and output stand in two attributes
// whatever it is; what it is, in its type and subtype. Each turn of generate lies in
// the turn before it, so only the outermost is an agent, called as the flow or prompt
// that it lies in. Tool spans have no call id.
func genkit(span ptrace.Span, _ *look, st *canon.Stated) {
	at := span.Attributes()
	var kind, subtype, name, path, in, out string
	for k, v := range at.All() {
		switch k {
		case "genkit:type":
			kind = text(v)
		case "genkit:metadata:subtype":
			subtype = text(v)
		case "genkit:name":
			name = text(v)
		case "genkit:path":
			path = text(v)
		case "genkit:input":
			in = text(v)
		case "genkit:output":
			out = text(v)
		case "genkit:metadata:interrupt":
			if v.Type() != pcommon.ValueTypeBool || v.Bool() {
				st.Deferred, st.NoException = true, true
			}
		case "genkit:state":
			st.Failed = text(v) == "error"
		}
	}
	switch orElse(subtype, kind) {
	case "model", "background-model":
		byDialect(st, agent.OpModel, agent.KindThink)
		genkitModel(at, name, in, out)
	case "tool", "tool.v2":
		byDialect(st, agent.OpTool, agent.KindUnset)
		putNew(at, canon.ToolName, name)
		putNew(at, canon.ToolArguments, in)
		putNew(at, canon.ToolResult, out)
		takenFrom(at, canon.ToolArguments, canon.ToolResult)
	case "retriever", "embedder", "reranker":
		byEvidence(st, agent.OpRetrieval)
	case "util":
		byDialect(st, agent.OpWorkflow, agent.KindOther)
		if around, inside := genkitAround(path); name == "generate" && !inside {
			byDialect(st, agent.OpAgent, agent.KindUnset)
			putNew(at, canon.AgentName, around)
			putMember(at, canon.InputMessages, in, "messages", false)
			putMember(at, canon.OutputMessages, out, "message", true)
			takenFrom(at, canon.InputMessages, canon.OutputMessages)
		}
	default: // flow, flowStep, prompt, dotprompt, promptTemplate, indexer, evaluator
		byDialect(st, agent.OpWorkflow, agent.KindOther)
	}
	if st.Deferred {
		st.Failed = false
	}
}

// genkitAround tells of a path, /{name,t:type}/{name,t:type,s:subtype}, whether its
// last element lies in a generate, and the name of the flow or prompt that it lies in.
func genkitAround(path string) (name string, inGenerate bool) {
	end := strings.LastIndex(path, "/{")
	if end <= 0 {
		return "", false
	}
	path = path[:end]
	name, kind, _ := strings.Cut(strings.TrimSuffix(path[strings.LastIndex(path, "/{")+1:], "}"), ",t:")
	name = strings.TrimPrefix(name, "{")
	switch kind {
	case "util":
		return "", name == "generate"
	case "flow", "dotprompt", "action,s:prompt", "action,s:executable-prompt":
		return name, false
	}
	return "", false
}

// genkitModel takes a model call's request and response apart. Its name is the
// plugin's and the model's, with a slash between.
func genkitModel(at pcommon.Map, name, in, out string) {
	if provider, model, ok := strings.Cut(name, "/"); ok {
		putNew(at, canon.ProviderName, provider)
		name = model
	}
	putNew(at, canon.RequestModel, name)
	putMember(at, canon.InputMessages, in, "messages", false)
	config := ""
	sc := cjson.Scan(in)
	for sc.Object(); sc.Next(); {
		if sc.Key() == "config" {
			config = sc.Raw()
		}
	}
	p := readParameters(config)
	p.put(at)
	genkitAnswer(at, out)
	takenFrom(at, canon.InputMessages, canon.OutputMessages)
}

func genkitAnswer(at pcommon.Map, out string) {
	message, finish, usage, raw := "", "", "", ""
	sc := cjson.Scan(out)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "message":
			message = sc.Raw()
		case "finishReason":
			finish = stringOf(&sc)
		case "usage":
			usage = sc.Raw()
		case "raw", "custom": // what the provider answered
			raw = orElse(raw, sc.Raw())
		}
	}
	if !sc.End() {
		return
	}
	if message != "" && message != "null" {
		putNew(at, canon.OutputMessages, "["+message+"]")
	}
	putNew(at, canon.FinishReasons, finish)
	genkitUsage(at, usage)
	sc = cjson.Scan(raw)
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "id", "responseId":
			putNew(at, canon.ResponseID, stringOf(&sc))
		case "model", "modelVersion":
			putNew(at, canon.ResponseModel, stringOf(&sc))
		}
	}
}

// genkitUsage: Gemini counts its thoughts beside the output, others within it; the
// total tells.
func genkitUsage(at pcommon.Map, usage string) {
	var input, output, total, cached, thoughts int64
	known := false
	sc := cjson.Scan(usage)
	for sc.Object(); sc.Next(); {
		n := number(sc.Raw())
		switch sc.Key() {
		case "inputTokens":
			input, known = n, true
		case "outputTokens":
			output, known = n, true
		case "totalTokens":
			total = n
		case "cachedContentTokens":
			cached = n
		case "thoughtsTokens":
			thoughts = n
		}
	}
	if !known {
		return
	}
	if thoughts > 0 && input+output+thoughts == total {
		output += thoughts
	}
	for _, c := range [...]struct {
		name string
		n    int64
	}{{canon.InputTokens, input}, {canon.OutputTokens, output}, {canon.CacheReadTokens, cached}, {canon.ReasoningTokens, thoughts}} {
		if _, there := at.Get(c.name); !there && (c.n > 0 || c.name == canon.InputTokens || c.name == canon.OutputTokens) {
			at.PutInt(c.name, c.n)
		}
	}
}

// takenFrom removes the attributes whose content was taken out of them.
func takenFrom(at pcommon.Map, input, output string) {
	_, in := at.Get(input)
	_, out := at.Get(output)
	at.RemoveIf(func(k string, _ pcommon.Value) bool { return in && k == "genkit:input" || out && k == "genkit:output" })
}
