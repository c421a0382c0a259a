package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// Normalizer rewrites spans and log records to canonical names. It does not
// change and may be used by several goroutines.
type Normalizer struct {
	// RunIDKeys are attribute names that carry an explicit run id, beside those
	// of the dialects.
	RunIDKeys []string
}

// file is what a dialect's file offers: it puts what the dialect keeps elsewhere
// under canonical names and fills in what no attribute holds.
type file func(span ptrace.Span, l *look, st *canon.Stated)

// files is the list of the dialects that are understood. A dialect without an
// entry is kept as a span that is no step.
var files = [...]file{
	ClaudeCode:    claudeCode,
	OpenInference: openInference,
	VercelAI:      vercelAI,
	LangSmith:     langSmith,
	OpenLLMetry:   openLLMetry,
	OTelGenAI:     genAI,
	MCP:           mcp,
	Temporal:      temporal,
	Explicit:      explicit,
	Logfire:       logfire,
	AnthropicSDK:  anthropicSDK,
	ADK:           adkFrame,
	Langfuse:      langfuse,
	CrewAI:        crewAI,
	AgentOps:      agentOps,
	Laminar:       laminar,
	Braintrust:    braintrust,
	OpenLIT:       openLIT,
	MLflow:        mlflow,
	Haystack:      haystack,
	Mastra:        mastra,
	Genkit:        genkit,
	LiveKit:       liveKit,

	AutoGenRuntime: autoGenRuntime,

	AgentTelemetry: agentTelemetry,

	ToolOnly:  toolOnly,
	ModelOnly: modelOnly,
	HTTP:      httpSpan,
	Database:  database,
	RPC:       rpc,
}

// Normalize rewrites a span in place and fills st, which it resets first. Spans
// are neither added nor removed.
func (n *Normalizer) Normalize(scope string, span ptrace.Span, st *canon.Stated) {
	st.Reset()
	l := lookAt(scope, span, n.RunIDKeys)
	d := l.detect()
	st.Dialect = d.String()
	if l.run != "" {
		st.DialectRun, st.DialectRunWeak = l.run, l.runRank == rankLangSmith
	}
	if l.has(markFlat) {
		takeFlat(span.Attributes()) // first: it makes room
	}
	if l.has(markOld) {
		rename(span.Attributes())
	}
	if l.has(markMetadata) {
		takeMetadata(span.Attributes(), &l.app, st)
	}
	if l.has(markHeader) {
		renameHeaders(span.Attributes())
	}
	if l.has(markStructured) {
		flatten(span.Attributes())
	}
	if l.has(markJoin) {
		joinFinishReasons(span.Attributes())
	}
	if l.has(markPlainID) {
		span.Attributes().RemoveIf(func(k string, v pcommon.Value) bool { return k == canon.ToolCallID && isPlainID(v) })
	}
	if int(d) < len(files) && files[d] != nil {
		files[d](span, &l, st)
	}
	if l.client != nil {
		l.client(span, &l, st)
	}
	if st.Op == agent.OpTool && st.HandoffTo == "" {
		handoffArgument(span.Attributes(), st)
	}
	if st.Op == agent.OpNone && l.has(markStepKind) && d != Explicit {
		explicit(span, &l, st) // the user says that it is a step
	}
	if l.has(markOwn) {
		overlay(span, &l, st)
	}
}

// byDialect sets what the dialect tells of the kind.
func byDialect(st *canon.Stated, op agent.Op, kind agent.Kind) {
	st.Op, st.Kind, st.KindSource = op, kind, agent.KindSourceDialect
	if kind == agent.KindUnset {
		st.KindSource = agent.KindSourceUnset
	}
}

// byEvidence sets an operation of which something on the span itself shows that it
// only reads.
func byEvidence(st *canon.Stated, op agent.Op) {
	st.Op, st.Kind, st.KindSource = op, agent.KindRead, agent.KindSourceEvidence
}

// flatten writes content that came as structured values as JSON strings.
func flatten(at pcommon.Map) {
	for k, v := range at.All() {
		switch k {
		case canon.ToolArguments, canon.ToolResult, canon.InputMessages, canon.OutputMessages, canon.SystemInstructions, toolDefinitions:
			asJSON(v)
		}
	}
}

func asJSON(v pcommon.Value) {
	switch v.Type() {
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		v.SetStr(string(canon.AppendJSON(nil, v)))
	}
}

func text(v pcommon.Value) string {
	if v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	if v.Type() == pcommon.ValueTypeEmpty {
		return ""
	}
	return string(canon.AppendJSON(nil, v))
}
