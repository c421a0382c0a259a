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
	class, message, ok := exceptionRepr(result)
	if !ok {
		class, message = "", result
	}
	if span.Status().Message() == "" {
		span.Status().SetMessage(canon.Cut(message, maxMessage))
	}
	if class != "" {
		at.PutStr(canon.ErrorType, class)
	}
}

// maxMessage bounds a status message that is taken from content, in bytes.
const maxMessage = 4096

// exceptionRepr takes apart what Python writes of an exception: its class, and its
// first argument in quotes.
func exceptionRepr(s string) (class, message string, ok bool) {
	class, rest, ok := strings.Cut(strings.TrimSpace(s), "(")
	if !ok || class == "" || len(class) > 200 || !strings.HasSuffix(rest, ")") {
		return "", "", false
	}
	for i := range len(class) {
		if c := class[i] | 0x20; (c < 'a' || c > 'z') && class[i] != '.' && class[i] != '_' && (class[i] < '0' || class[i] > '9') {
			return "", "", false
		}
	}
	message = rest[:len(rest)-1]
	if n := len(message); n >= 2 && (message[0] == '\'' || message[0] == '"') && message[n-1] == message[0] {
		message = message[1 : n-1]
	}
	return class, message, true
}
