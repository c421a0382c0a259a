// Package dialect turns what instrumentation libraries send into the canonical
// form of package canon, in place.
//
//	span → look (one pass) → Detect → the dialect's file → canonical names, Stated
//
// Detect is one visible function in the order of the project's map of dialects.
// A dialect is one file that says where each canonical field is, and nothing
// else; what dialects have in common stands beside them once (events.go,
// rename.go, runid.go). A span of a dialect that has no file yet is kept as a
// span that is no step, unless it carries agent.* attributes.
//
// The package knows no policy, no redaction, no store, no clock and no other
// span. Nothing in it panics, whatever a span holds.
package dialect
