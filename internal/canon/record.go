package canon

import (
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/cjson"
)

// Record is a span as read: the step, and the bodies and facts of the messages
// that it refers to. Its strings and slices may share memory with the span and
// with the Reader: it is valid until the Reader's next call.
type Record struct {
	Step     agent.Step
	Bodies   []agent.Body         // each body once
	Facts    []agent.MessageFacts // of every message that Step refers to, each once
	Findings []agent.Finding      // from the span's finding events

	// Unknown names the attributes whose value no enum or number of ours knows.
	// They stand in Step.Attributes as they came.
	Unknown []string

	// Kind as the span itself states it, before policy.
	StatedKind agent.Kind

	status    statusEvidence
	arguments string // content attributes as they stand on the span
	result    string
	session   string // session.id, beside gen_ai.conversation.id
	content   [contentSlots]string
	layout    layout
	placed    []bool // by fact: its body was given
	sum       uint64 // checksum of the content attributes, as the facts have it
	stated    Stated
}

type statusEvidence struct {
	failed    bool
	exception bool
	excType   string
	grpc      int
}

// slot is one of the attributes that hold messages.
type slot uint8

const (
	slotSystem slot = iota
	slotInput
	slotOutput
	contentSlots
)

var slotNames = [contentSlots]string{SystemInstructions, InputMessages, OutputMessages}

// segment is a message inside the text of a content attribute.
type segment struct {
	start, end int
	fact       int // index into Record.Facts
}

// layout says where the messages of a span lie.
type layout struct {
	segments [contentSlots][]segment
}

func (l *layout) reset() {
	for i := range l.segments {
		l.segments[i] = l.segments[i][:0]
	}
}

// Arguments is the text of the tool call's arguments as it stands on the span.
func (r *Record) Arguments() string { return r.arguments }

// Result is the text of the tool call's result as it stands on the span.
func (r *Record) Result() string { return r.result }

// Stated is what the dialect told.
func (r *Record) Stated() *Stated { return &r.stated }

// LogRecord is one message that came as a log record.
type LogRecord struct {
	Content agent.LogContent
	Body    agent.Body
	Facts   agent.MessageFacts
}

// Evidence is what the span shows of its outcome, for agent.JudgeSpan. Bodies
// are taken as they stand on the span.
func (r *Record) Evidence() agent.SpanEvidence {
	s, st := &r.Step, &r.stated
	ev := agent.SpanEvidence{
		Ended: st.Ended && s.End != 0, Failed: r.status.failed || st.Failed, Exception: r.status.exception && !st.NoException,
		Deferred: st.Deferred, Refused: st.Refused,
		Error: agent.ErrorEvidence{
			Type: s.ErrorType, Text: s.ErrorText, Code: int(s.StatusCode), GRPC: r.status.grpc,
			Tool: s.Call.Tool, Arguments: r.arguments,
		},
	}
	if r.result != "" {
		text, isError := ResultText(r.result)
		ev.Result = agent.ResultEvidence{
			Recorded: true, Text: text, IsError: isError || st.ResultError, Tool: s.Call.Tool, Arguments: r.arguments,
		}
		if !ev.Result.IsError && isMask(text) {
			ev.Result.Recorded = false
		}
	}
	return ev
}

// maxMask is the longest text that can be nothing but a mask.
const maxMask = 128

// isMask reports whether a text is nothing but a placeholder: it says that there
// was a result, or none, and not how the call ended.
func isMask(text string) bool {
	text = strings.TrimSpace(cjson.Text(text))
	if len(text) < 2 || len(text) > maxMask || !cjson.IsPlaceholder(text) {
		return false
	}
	switch last := text[len(text)-1]; text[0] {
	case '_', '*':
		return last == text[0]
	case '[':
		return last == ']' && !strings.ContainsAny(text[1:2], `"[{`)
	case '<':
		return last == '>'
	}
	return false
}
