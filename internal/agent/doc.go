// Package agent is the model of what an agent did: spans that state facts
// (Step), and the run, its steps and their attempts derived from them (Run).
//
// A Step says only what one span states, plus what the policy says of its
// tool; it never changes. Everything that other spans can change (the run a
// trace belongs to, lane, step, attempt, kind by evidence, outcome by an HTTP
// child) is derived by NewRun and Runs, which are pure: any order and any
// repetition of the same input gives the same result.
//
//	Steps + message facts + log content → Runs → Run → RunStep → Attempt
//
// The rules are those of the project's span conventions (docs/conventions.md),
// one pass a file, in the order that arena.go and derive.go show. Not derived
// here: a hand-off of which neither span nor request is here, and the linking of
// evaluations.
//
// The package knows no telemetry format, no policy, no store and no clock; it
// imports the standard library only.
package agent
