package canon_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// A mask in the place of a result does not say that the call ended well: an
// exception beside it counts, whatever the status.
func TestAMaskIsNoResult(t *testing.T) {
	for result, want := range map[string]agent.Sign{
		"":                           agent.SignLost,
		"__REDACTED__":               agent.SignLost,
		`"[REDACTED]"`:               agent.SignLost,
		"[Scrubbed due to 'secret']": agent.SignLost,
		"********":                   agent.SignLost,
		"<REDACTED>":                 agent.SignLost,
		`{"email":"[EMAIL]"}`:        agent.SignOK,
		`["[EMAIL]"]`:                agent.SignOK,
		"[ORDER] was refunded":       agent.SignOK,
		"done":                       agent.SignOK,
	} {
		span := ptrace.NewSpan()
		span.SetEndTimestamp(1)
		span.Attributes().PutStr(canon.ToolName, "refund")
		if result != "" {
			span.Attributes().PutStr(canon.ToolResult, result)
		}
		ev := span.Events().AppendEmpty()
		ev.SetName(canon.ExceptionEvent)
		ev.Attributes().PutStr(canon.ExceptionType, "TimeoutError")
		var r canon.Reader
		rec := r.Read(span, &canon.Stated{Op: agent.OpTool, Ended: true})
		require.Equal(t, want, agent.JudgeSpan(rec.Evidence()), result)
	}
}
