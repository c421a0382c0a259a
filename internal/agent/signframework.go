package agent

import "strings"

// maxSentence bounds a text that can be a framework's sentence, and what such a
// sentence says of a list of tools.
const maxSentence = 2000

// refusals are the sentences in which a framework tells the model that a call did
// not run, by their beginning (the clients' pages). Each stands alone in the
// answer: the tool was never there to write it.
var refusals = [...]string{
	"unknown tool name: ",                         // Pydantic AI: no such tool
	"unknown tool: ",                              // Strands: no such tool
	"tool not executed - ",                        // Pydantic AI: another call of the answer ended the run
	"tool execution was not approved",             // OpenAI Agents: rejected
	"the tool call was denied",                    // Pydantic AI: rejected
	"this tool call is rejected",                  // Google ADK: rejected
	"function call was rejected by the user",      // Agno: rejected
	"user rejected the tool call for ",            // LangChain: rejected
	"tool call limit reached. ",                   // Agno: beyond the limit
	"validation failed for input parameters: ",    // Strands: arguments
	"argument parsing failed",                     // Agent Framework: arguments
	"1 validation error:", "2 validation errors:", // Pydantic AI 1: arguments
}

// longRefusals are those that repeat the call's arguments, so that they have no
// bound (Vercel AI SDK: no such tool; arguments).
var longRefusals = [...]string{
	"model tried to call unavailable tool '", "AI_NoSuchToolError: ",
	"invalid input for tool ", "AI_InvalidToolInputError: ",
	"invalid arguments for tool ", "AI_InvalidToolArgumentsError: ",
}

// waiting is the sentence in which a framework says that a call waits for a person.
const waiting = "this tool call requires confirmation" // Google ADK

// frameworkSign is the sign of a text that is wholly a framework's sentence: a
// tool that took too long, or a call that never ran. None for any other text.
func frameworkSign(text string) Sign {
	for _, r := range longRefusals {
		if hasPrefixFold(text, r) {
			return SignRefused
		}
	}
	if len(text) < len("unknown tool") || len(text) > maxSentence {
		return SignNone
	}
	if isFrameworkTimeout(text) {
		return SignLost
	}
	if strings.HasPrefix(text, "Background task dispatched.") && strings.Contains(text, "\nStatus: queued") { // Strands
		return SignReceipt
	}
	text = strings.TrimPrefix(text, "Error: ")
	if name, rest, ok := strings.Cut(text, " is not a valid tool, try one of ["); ok { // LangGraph
		if !strings.ContainsAny(name, " \n") && strings.Contains(rest, "]") {
			return SignRefused
		}
	}
	if hasPrefixFold(text, waiting) {
		return SignDeferred
	}
	for _, r := range refusals {
		if hasPrefixFold(text, r) {
			return SignRefused
		}
	}
	return SignNone
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// isFrameworkTimeout: a text that is wholly a framework's sentence about a tool
// that took too long.
func isFrameworkTimeout(text string) bool {
	if len(text) > 300 || strings.ContainsAny(text, "\n\r") {
		return false
	}
	t := strings.TrimSuffix(strings.ToLower(text), ".")
	if after, ok := strings.CutPrefix(t, "timed out after "); ok { // Pydantic AI does not name the tool
		return isDuration(after)
	}
	name, rest, ok := strings.Cut(strings.TrimPrefix(t, "the "), " timed out after ")
	if !ok || !strings.HasPrefix(name, "tool ") {
		return false
	}
	return isDuration(rest)
}

// isDuration: a number and a unit of time.
func isDuration(s string) bool {
	number, unit, ok := strings.Cut(s, " ")
	if !ok || number == "" || strings.Trim(number, "0123456789.") != "" {
		return false
	}
	switch unit {
	case "s", "second", "seconds", "ms", "milliseconds", "minutes":
		return true
	}
	return false
}
