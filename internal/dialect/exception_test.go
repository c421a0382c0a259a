package dialect_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/dialect"
)

// Some packages write the class of an exception into its message only.
func TestTheClassOfAnExceptionIsReadOutOfItsMessage(t *testing.T) {
	const stack = "\n    at f (a.js:1:1)"
	for _, c := range []struct{ mark, typ, message, wantType, wantMessage string }{
		{"openinference.span.kind", "", "no answer\n\nTimeoutError: no answer" + stack, "TimeoutError", "no answer"},
		{"openinference.span.kind", "", "[{}]\n\nTroubleshooting URL: https://x\n\nGraphInterrupt: [{}]" + stack, "GraphInterrupt", "[{}]\n\nTroubleshooting URL: https://x"},
		{"openinference.span.kind", "", "first\n\nSecond: third", "", "first\n\nSecond: third"},
		{"openinference.span.kind", "E", "a\n\nTimeoutError: a" + stack, "E", "a\n\nTimeoutError: a" + stack},
		{"langsmith.span.kind", "Exception", "TimeoutError('no answer')\n\nTraceback (most recent call last):\n  x", "TimeoutError", "no answer"},
		{"langsmith.span.kind", "Exception", "GraphInterrupt((Interrupt(value=1),))Traceback (most recent call last):\n", "GraphInterrupt", "(Interrupt(value=1),)"},
		{"langsmith.span.kind", "Exception", "1 validation error for t", "Exception", "1 validation error for t"},
		{"langsmith.span.kind", "ValueError", "X('y')", "ValueError", "X('y')"},
	} {
		span := ptrace.NewSpan()
		span.Attributes().PutStr(c.mark, "CHAIN")
		ev := span.Events().AppendEmpty()
		ev.SetName(canon.ExceptionEvent)
		if c.typ != "" {
			ev.Attributes().PutStr(canon.ExceptionType, c.typ)
		}
		ev.Attributes().PutStr(canon.ExceptionMessage, c.message)
		var n dialect.Normalizer
		var st canon.Stated
		n.Normalize("s", span, &st)
		typ, _ := ev.Attributes().Get(canon.ExceptionType)
		if c.wantType != "" {
			require.Equal(t, c.wantType, typ.Str(), c.message)
		}
		message, _ := ev.Attributes().Get(canon.ExceptionMessage)
		require.Equal(t, c.wantMessage, message.Str())
	}
}
