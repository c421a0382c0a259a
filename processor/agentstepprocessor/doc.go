// Package agentstepprocessor is the collector component agentstep: it turns the
// spans and log records of AI agents into canonical steps, redacts them before
// anything else happens, links them into open runs, and writes what it found
// back onto the spans. It holds nothing back.
//
//	spans → dialect.Normalize → redact → canon.Read → decide (policy) → Annotate
//	                                                        ↓
//	next consumer ← span events ← verdicts ← assemble.Add → detect
//
// The package is an adapter: it translates pdata, calls the core, counts and
// returns. It knows no store and no query.
package agentstepprocessor
