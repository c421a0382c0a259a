package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// anthropicSDK reads the spans that the Anthropic SDK for Python writes by itself:
// OTel GenAI, with the stop reason, the result of a tool and what its error was in
// places of their own.
func anthropicSDK(span ptrace.Span, l *look, st *canon.Stated) {
	genAI(span, l, st)
	at := span.Attributes()
	for k, v := range at.All() {
		if k == "http.request.resend_count" {
			st.Attempts = int(min(tally(v), maxAttempts-1)) + 1
		}
	}
	moveAll(at, anthropicName)
	if st.Op == agent.OpTool && span.Status().Code() == ptrace.StatusCodeError {
		anthropicError(span, at)
	}
}

func anthropicName(k string) string {
	switch k {
	case "anthropic.message.stop_reason":
		return canon.FinishReasons
	case "anthropic.tool_result.content":
		return canon.ToolResult
	}
	return ""
}

// anthropicError takes class and text of a tool's error from its result, where
// they stand as Python writes an exception: TimeoutError('did not answer'). The
// span itself says tool_error, whatever happened.
func anthropicError(span ptrace.Span, at pcommon.Map) {
	v, ok := at.Get(canon.ToolResult)
	if !ok {
		return
	}
	result, _ := canon.ResultText(text(v))
	class, message := "", result
	if repr := strings.TrimSpace(result); strings.HasSuffix(repr, ")") {
		if c, said, ok := reprOf(repr); ok {
			class, message = c, said
		}
	}
	describe(span, message)
	if class != "" {
		at.PutStr(canon.ErrorType, class)
	}
}
