package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// strands reads what Strands Agents add to OTel GenAI.
func strands(span ptrace.Span, l *look, st *canon.Stated) {
	at := span.Attributes()
	switch st.Op {
	case agent.OpTool:
		v, ran := at.Get("gen_ai.tool.status")
		switch {
		case ran:
			st.ResultError = text(v) == "error"
		case span.Status().Code() == ptrace.StatusCodeOk && !hasException(span, ""):
			st.Deferred = true // an interrupt asked a person from inside the tool
		}
		cancelled(span, st)
	case agent.OpAgent:
		st.Spanless = agent.SignRejected
		if v, ok := at.Get(canon.OutputMessages); ok && strings.Contains(v.Str(), `"interrupt"`) {
			interrupts(v.Str(), st)
		}
	case agent.OpNone:
		if l.operation == "memory.search" { // only Strands have it
			byEvidence(st, agent.OpRetrieval)
		}
	}
}

// cancelled: what was cancelled while it ran may have happened.
func cancelled(span ptrace.Span, st *canon.Stated) {
	if _, ok := span.Attributes().Get("strands.cancellation.type"); ok && span.Status().Code() != ptrace.StatusCodeError {
		st.Failed = true
		putNew(span.Attributes(), canon.ErrorType, "cancelled")
	}
}

// interrupts finds the calls that interrupts name. Their ids stand in a text that
// is no JSON: v1:before_tool_call:CALL:UUID.
func interrupts(out string, st *canon.Stated) {
	for len(st.Words) < maxWords {
		i := strings.Index(out, "v1:")
		if i < 0 {
			return
		}
		out = out[i+len("v1:"):]
		id, ok := strings.CutPrefix(out, "before_tool_call:")
		if !ok {
			if id, ok = strings.CutPrefix(out, "tool_call:"); !ok {
				continue
			}
		}
		end := strings.IndexAny(id, `'"\ `)
		if end < 0 {
			return
		}
		if n := strings.LastIndexByte(id[:end], ':'); n > 0 {
			addWord(st, agent.CallWord{ID: id[:n], Sign: agent.SignDeferred})
		}
	}
}
