package agent

import "strings"

// maxSentence bounds a sentence that begins with a name.
const maxSentence = 2000

// sentence is one in which a framework says that a call did not run, or waits: all
// of it, since a tool may repeat what an outsider wrote, and words in its result
// say nothing. In a form {} stands for a name, {,} for a list of names, {#} for a
// number, {a} for plain words, {*} for any text at the end, which repeats the
// call's arguments or a person's reason.
type sentence struct {
	form string
	sign Sign
	// The span of the call shows it: this client opens one for a call that it turns
	// away. Elsewhere the call has no span, and the sentence stands in a message
	// only: in the result of a span it is what the tool said.
	onSpan bool
}

// sentences are those of the clients' pages.
var sentences = [...]sentence{
	{"This tool call requires confirmation, please approve or reject.", SignDeferred, true}, // Google ADK
	{"This tool call is rejected.", SignRefused, true},
	{"This tool call is rejected by policy engine. Reason: {*}", SignRefused, true},
	{"Unknown tool: {}", SignRefused, true}, // Strands
	{"Validation failed for input parameters: {#} validation error{*}", SignRefused, true},
	{"Validation failed for input parameters: {#} error{*}", SignRefused, true},
	{"{#} validation error:\n```json\n{*}", SignRefused, true}, // Pydantic AI 1: arguments
	{"{#} validation errors:\n```json\n{*}", SignRefused, true},
	{"Unknown tool name: {}", SignRefused, false}, // Pydantic AI
	{"Unknown tool name: {}. Available tools: {,}", SignRefused, false},
	{"Unknown tool name: {}. No tools available.", SignRefused, false},
	{"Tool not executed - {a}.", SignRefused, false}, // another call of the answer ended the run
	{"The tool call was denied.", SignRefused, false},
	{"Tool execution was not approved.", SignRefused, false},       // OpenAI Agents
	{"Function call was rejected by the user", SignRefused, false}, // Agno
	{"Tool call limit reached. Tool call {} not executed.", SignRefused, false},
	{"Tool call limit reached. Tool call {} not executed. Don't try to execute it again.", SignRefused, false},
	{"User rejected the tool call for `{}`{*}", SignRefused, false},    // LangChain
	{"{} is not a valid tool, try one of [{,}].", SignRefused, false},  // LangGraph
	{"Argument parsing failed.", SignRefused, false},                   // Agent Framework
	{"Argument parsing failed. Exception: {*}", SignRefused, false},    // with its details
	{"Model tried to call unavailable tool '{}'.", SignRefused, false}, // Vercel AI SDK
	{"Model tried to call unavailable tool '{}'. Available tools: {,}.", SignRefused, false},
	{"Model tried to call unavailable tool '{}'. No tools are available.", SignRefused, false},
	{"Invalid input for tool {}: Type validation failed: {*}", SignRefused, false},
	{"Invalid input for tool {}: JSON parsing failed: {*}", SignRefused, false},
	{"Invalid arguments for tool {}: Type validation failed: {*}", SignRefused, false},
	{"Invalid arguments for tool {}: JSON parsing failed: {*}", SignRefused, false},
}

// errorNames are what may stand before a sentence: that it is an error, and of
// which class.
var errorNames = [...]string{"Error: ", "AI_NoSuchToolError: ", "AI_InvalidToolInputError: ", "AI_InvalidToolArgumentsError: "}

// frameworkSign is the sign of a text that is wholly a framework's sentence: a
// tool that took too long, or a call that never ran. None for any other text.
// inMessage: it stands in a message, where the framework answers for the tool.
func frameworkSign(text string, inMessage bool) Sign {
	if isFrameworkTimeout(text) {
		return SignLost
	}
	if len(text) <= maxSentence && strings.HasPrefix(text, "Background task dispatched.") && strings.Contains(text, "\nStatus: queued") { // Strands
		return SignReceipt
	}
	for _, name := range errorNames {
		text = strings.TrimPrefix(text, name)
	}
	text = strings.TrimSuffix(text, "\n\nFix the errors and try again.")
	for i := range sentences {
		if s := &sentences[i]; (s.onSpan || inMessage) && matches(text, s.form) {
			return s.sign
		}
	}
	return SignNone
}

// matches reports whether a text has a form, from its beginning to its end.
func matches(text, form string) bool {
	for {
		literal, rest, ok := strings.Cut(form, "{")
		if !ok {
			return text == form
		}
		if text, ok = strings.CutPrefix(text, literal); !ok {
			return false
		}
		hole, rest, _ := strings.Cut(rest, "}")
		if hole == "*" {
			return true
		}
		next, _, _ := strings.Cut(rest, "{")
		end := len(text)
		if next != "" {
			end = strings.Index(text[:min(len(text), maxSentence)], next)
		}
		if end < 0 || !fills(hole, text[:end]) {
			return false
		}
		text, form = text[end:], rest
	}
}

// fills reports whether a part of a text can stand for a hole of a form.
func fills(hole, part string) bool {
	if part == "" || len(part) > maxSentence {
		return false
	}
	switch hole {
	case "#":
		return strings.Trim(part, "0123456789") == ""
	case "a":
		return !strings.ContainsFunc(part, func(r rune) bool { return r != ' ' && (r < 'a' || r > 'z') })
	case ",":
		for name := range strings.SplitSeq(part, ",") {
			if !fills("", strings.TrimPrefix(name, " ")) {
				return false
			}
		}
		return true
	}
	return !strings.ContainsAny(part, " \t\r\n,;")
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
