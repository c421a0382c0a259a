package agent

import "strings"

// handoffPrefixes begin the names of tools that pass a run on, where the policy
// says nothing.
var handoffPrefixes = [...]string{"handoff_to_", "handoff to ", "transfer_to_", "delegate_to_", "delegate_task_to_"}

// isHandoffName reports whether a tool of that name is a hand-off by its name.
// A transfer to a human passes the run to a person, and no agent takes over.
func isHandoffName(tool string) bool {
	if tool == "handoff" {
		return true
	}
	to := handoffTo(tool)
	return to != "" && to != "human" && !strings.HasPrefix(to, "human_")
}

// handoffTo is the agent that a hand-off's name names; empty if none.
func handoffTo(tool string) string {
	for _, p := range handoffPrefixes {
		if to, ok := strings.CutPrefix(tool, p); ok {
			return to
		}
	}
	return ""
}

// isOutputName reports whether a tool of that name is the agent's answer
// dressed as a tool.
func isOutputName(tool string) bool {
	switch tool {
	case "final_result", "final_answer", "finish":
		return true
	}
	return false
}

// sameTool reports whether two names name one tool: equal, or equal but for a
// server's or plugin's prefix. A call without a name is equal to no other.
func sameTool(x, y string) bool {
	if x == "" || y == "" {
		return false
	}
	if x == y {
		return true
	}
	if len(x) < len(y) {
		x, y = y, x
	}
	head, ok := strings.CutSuffix(x, y)
	if !ok {
		return false
	}
	switch head[len(head)-1] {
	case '-', '.', '/', ':':
		return true
	}
	return strings.HasSuffix(head, "__")
}
