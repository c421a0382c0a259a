package dialect

import (
	"strings"

	"github.com/steptrail/steptrail/internal/cjson"
)

// readJSON reads metadata that is one JSON object. A tool's own metadata stand
// among those of its run, with the annotations of its MCP server.
func (m *metadata) readJSON(raw string) {
	sc := cjson.Scan(raw)
	for sc.Object(); sc.Next(); {
		switch sc.Kind() {
		case cjson.KindString:
			m.read(sc.Key(), sc.Text())
		case cjson.KindBool:
			m.readOnly = m.readOnly || sc.Key() == "readOnlyHint" && sc.Raw() == "true"
		default:
		}
	}
}

// isAgent reports whether a span of that name is the run of an agent, or of a
// whole graph, rather than of a node in one: it bears the name of the agent in
// whose graph it runs, or is a graph and no node of one.
func (m *metadata) isAgent(name string) bool {
	if m.agent != "" && m.agent == name {
		return true
	}
	if m.node != "" || m.checkpoint != "" {
		return false
	}
	return m.integration == "langgraph" || m.integration == "langchain_create_agent"
}

// isRunnable reports whether a name is that of a class by which LangChain and
// LangGraph put a chain together: what such a span covers is no step.
func isRunnable(name string) bool {
	switch name {
	case "prompt", "Prompt", "ChatPromptTemplate", "PromptTemplate", "__start__", "__end__":
		return true
	}
	return strings.HasPrefix(name, "Runnable") || strings.HasPrefix(name, "Channel") || strings.HasPrefix(name, "Branch<")
}
