package agent

import "strings"

// isValidation reports whether an error is a framework's validation of the
// arguments ahead of the tool, as pydantic writes it for the tool's own schema:
// "2 validation errors for TOOL" and the fields below, the first with its kind. The
// tool never ran. A text that only begins so is some exception of the tool.
func isValidation(e ErrorEvidence) bool {
	if e.Tool == "" {
		return false
	}
	switch lastSegment(e.Type) {
	case "", "Exception", "ValidationError":
	default:
		return false
	}
	text := strings.TrimLeft(e.Text, "0123456789")
	if len(text) == len(e.Text) {
		return false
	}
	rest, ok := strings.CutPrefix(text, " validation error")
	if !ok {
		return false
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, "s"), " for "+e.Tool)
	if !ok || rest == "" {
		return ok
	}
	// "\nFIELD\n  MESSAGE [type=KIND, …"
	_, below, ok := strings.Cut(strings.TrimPrefix(rest, "\n"), "\n  ")
	said, _, _ := strings.Cut(below, "\n")
	return ok && rest[0] == '\n' && strings.Contains(said, " [type=")
}
