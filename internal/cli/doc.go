// Package cli is the terminal's side of the query API: it asks a running
// Steptrail and writes what it answers for a person to read.
//
//	flags → Client (HTTP, problem documents) → api types → timeline, tables
//
// It knows no store. What it prints came from spans, so everything passes
// through clean: no control character or escape reaches the terminal.
package cli
