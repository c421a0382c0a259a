package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/canon"
)

const (
	toolDefinitions = "gen_ai.tool.definitions"
	headerPrefix    = "http.request.header."
)

// newName gives the current name of a deprecated attribute, empty for others.
func newName(k string) string {
	switch k {
	case "gen_ai.system":
		return canon.ProviderName
	case "gen_ai.usage.prompt_tokens":
		return canon.InputTokens
	case "gen_ai.usage.completion_tokens":
		return canon.OutputTokens
	case "gen_ai.openai.request.seed":
		return canon.RequestSeed
	case "gen_ai.usage.cache_read_input_tokens":
		return canon.CacheReadTokens
	case "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens", "gen_ai.usage.cache_write_input_tokens":
		return canon.CacheWriteTokens
	case "gen_ai.usage.reasoning_tokens", "ai.usage.outputTokenDetails.reasoningTokens":
		return canon.ReasoningTokens
	case "gen_ai.response.finish_reason":
		return canon.FinishReasons
	case "operation.cost", "gen_ai.usage.cost":
		return canon.CostUSD
	case "http.method":
		return canon.HTTPMethod
	case "http.status_code":
		return canon.HTTPStatus
	case "http.url":
		return canon.URLFull
	case "http.target":
		return canon.URLPath
	case "db.system":
		return canon.DBSystem
	case "db.operation":
		return canon.DBOperation
	}
	return ""
}

// maxRenames bounds how many deprecated names of one span are renamed; there
// are fewer.
const maxRenames = 64

// rename gives deprecated attributes their current names. Where a span has
// both, the current one counts and the old one goes.
func rename(at pcommon.Map) {
	moveAll(at, newName)
	renameProvider(at, func(s string) string { return orElse(provider(s), s) })
}

// renameProvider gives a span's provider the spelling that of gives for its own.
func renameProvider(at pcommon.Map, of func(string) string) {
	if v, ok := at.Get(canon.ProviderName); ok && v.Type() == pcommon.ValueTypeStr {
		if p := of(v.Str()); p != v.Str() {
			v.SetStr(p)
		}
	}
}

// dropped is the name of an attribute that goes: what it says stands elsewhere.
const dropped = "-"

// moveAll takes attributes to the names that to gives, and leaves those for which
// it gives none. Where a name is taken its value stays; the other one goes.
func moveAll(at pcommon.Map, to func(k string) string) {
	n := 0
	for k := range at.All() {
		if to(k) != "" {
			n++
		}
	}
	if n == 0 {
		return
	}
	n = min(n, maxRenames)
	at.EnsureCapacity(at.Len() + n) // so that what is added moves no value
	for k, v := range at.All() {
		name := to(k)
		if name == "" || name == dropped {
			continue
		}
		if n--; n < 0 {
			break
		}
		if dst, taken := at.GetOrPutEmpty(name); !taken {
			v.MoveTo(dst)
		}
	}
	at.RemoveIf(func(k string, _ pcommon.Value) bool { return to(k) != "" })
}

// move takes the value of one attribute to another name, unless that is taken.
func move(at pcommon.Map, from, to string) {
	if _, taken := at.Get(to); !taken {
		dst := at.PutEmpty(to) // before Get: it may move the attributes
		if src, ok := at.Get(from); ok {
			src.CopyTo(dst)
		}
	}
	at.Remove(from)
}

// provider gives the current spelling of a provider, empty where it has not
// changed.
func provider(s string) string {
	switch s {
	case "vertex_ai":
		return "gcp.vertex_ai"
	case "gemini":
		return "gcp.gemini"
	case "az.ai.openai":
		return "azure.ai.openai"
	case "az.ai.inference":
		return "azure.ai.inference"
	case "xai":
		return "x_ai"
	}
	return ""
}

// providerOf gives the registry's name of a provider as OpenInference and
// LangChain spell it; a name that no one knows comes back as it is.
func providerOf(s string) string {
	switch s {
	case "azure":
		return "azure.ai.openai"
	case "aws", "amazon_bedrock":
		return "aws.bedrock"
	case "google", "google_genai":
		return "gcp.gen_ai"
	case "vertexai", "google_vertexai":
		return "gcp.vertex_ai"
	case "mistralai":
		return "mistral_ai"
	}
	return orElse(provider(s), s)
}

// renameHeaders writes the names of captured request headers with hyphens and in
// lower case, as HTTP does; Python's instrumentation writes underscores.
func renameHeaders(at pcommon.Map) {
	var old [maxRenames]string
	n := 0
	for k := range at.All() {
		if strings.HasPrefix(k, headerPrefix) && n < len(old) && headerName(k) != k {
			old[n] = k
			n++
		}
	}
	for _, k := range old[:n] {
		move(at, k, headerName(k))
	}
}

func headerName(k string) string {
	name := k[len(headerPrefix):]
	if !strings.ContainsAny(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return k
	}
	return headerPrefix + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}
