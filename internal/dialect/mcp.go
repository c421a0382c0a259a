package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// mcp reads spans of MCP clients and servers that name no operation: only
// tools/call is a step. The client's span has the tool's name in its own name;
// that of the server, or of a framework around it, is the same call.
func mcp(span ptrace.Span, l *look, st *canon.Stated) {
	at := span.Attributes()
	if v, ok := at.Get("mcp.method.name"); !ok || text(v) != "tools/call" {
		return
	}
	_, tool, named := strings.Cut(span.Name(), "tools/call ")
	if !named && !l.has(markTool) {
		return // a server passes the call on to another
	}
	byDialect(st, agent.OpTool, agent.KindUnset)
	putNew(at, canon.ToolName, tool)
	mcpError(at, st)
}

// mcpError: with some JSON-RPC errors the server says that it never called the
// tool: the message, the method or the parameters were wrong.
func mcpError(at pcommon.Map, st *canon.Stated) {
	v, ok := at.Get(canon.ErrorType)
	if !ok {
		return
	}
	switch text(v) {
	case "-32700", "-32600", "-32601", "-32602":
		st.Refused = true
	}
}
