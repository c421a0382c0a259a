// Package cjson reads and canonicalises JSON that strangers wrote: tool
// arguments, tool results, model messages.
//
//	text → Scanner (one pass, no tree) → Canonical        RFC 8785, for hashes that others make too
//	                                   → AppendArguments  comparison form: exact decimals, JSON in strings unfolded,
//	                                   → AppendResult     values that are no news replaced (volatile.go holds the rule)
//	                                   → Lookup, Find     one value at a path
//
// It knows JSON and what is no news in it. It does not know spans, policies,
// hashes or keys. Every function is pure, takes any bytes, works in time linear
// in the text with bounded depth, and allocates nothing beyond the buffer it is
// given. Invalid UTF-8 and lone surrogates become U+FFFD in what it writes.
package cjson
