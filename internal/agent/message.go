package agent

// MessageFacts is what the rules need of a message. It outlives the message's
// body, which may expire first.
type MessageFacts struct {
	Ref      Ref
	Role     Role
	Calls    []RequestedCall // calls that an assistant message asks for, in order
	Answers  []CallAnswer    // tool responses in the message, in order
	UserText bool            // it has text of a person's own (no tool result, no framework's feedback)
	Text     Digest          // comparison hash of its text; zero where it has none
	Erased   bool            // Ref and the references are pseudonyms of an erasure
}

// RequestedCall is a call that a model asked for.
type RequestedCall struct {
	ID        string // tool call id; empty where the dialect gives none
	Tool      string
	Arguments Content
	// Kind and KindSource are what the policy says of the tool; unset where it
	// says nothing.
	Kind       Kind
	KindSource KindSource
	// OutputFunction as in Call.
	OutputFunction bool
}

// CallAnswer is the answer to a requested call as a later message shows it.
type CallAnswer struct {
	ID     string
	Tool   string // where the message names it
	Result Content
	Sign   Sign
}

// Body is the text of a message, an argument or a result, as it may be stored:
// redacted, valid UTF-8.
type Body struct {
	Ref     Ref
	Text    string
	Expires int64 // Unix seconds
}

// LogContent is a message that came as a log record instead of on its span.
type LogContent struct {
	Tenant   string
	Unit     string
	Trace    TraceID
	Span     SpanID
	Position int32
	Output   bool // part of the model's output; else of its input
	Message  Ref
	Start    int64 // Unix nanoseconds, the record's time
	Expires  int64 // Unix seconds, when the row expires by the policy; 0: with its body
	Erased   bool  // Message is a pseudonym of an erasure
}

// Input is all that a run is derived from. Steps of several units and runs may
// stand in it, in any order and repeated.
type Input struct {
	Steps []*Step
	Facts map[Ref]*MessageFacts
	Logs  []LogContent

	// Quiet: nothing more is awaited. Parents that are absent are passed over,
	// and a requested call without span or answer is lost once its lane went on.
	Quiet bool
	// Silent: nothing came for so long that a requested call without span or
	// answer is lost, even where its lane did not go on (detection.in_flight).
	Silent bool
}
