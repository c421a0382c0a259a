// Package canon is the canonical form of a span: the one dialect that exists
// behind the agentstep processor, and the only place that knows its names.
//
//	normalised span ── Reader.Read ──→ Record ── Annotate ──→ annotated span
//	annotated span ── Reader.Span ──→ the same Record
//
// What any backend may want to read stands in plain attributes. What only a
// row needs (comparison digests, policy flags, references and facts of
// messages, terms) stands in one bytes attribute, agent.facts, in a versioned
// binary form. Message bodies are not repeated there: facts hold where in the
// content attributes each body lies, and a checksum of what was measured.
//
// The package knows OTLP and the model (internal/agent). It knows no foreign
// dialect, no policy, no redaction, no store and no clock. Nothing in it
// panics on any input; a Reader is reused and is not safe for concurrent use.
package canon
