// Package custody carries out what people ask of stored history beside reading
// it: holds, which keep runs beyond their terms, and erasures, which take
// content and identifying fields out of every table (docs/adr/010).
//
//	hold     placed → runs found, rows copied → copied … late rows copied … → released → copies dropped → ended
//	erasure  requested → runs found → resolved → rows written anew → erased → old parts gone → done … late rows erased …
//
// Both cover the units of a run's spans, and those in which content of these
// spans has come, or may still come, as log records: records name a trace and a
// span, and no run.
//
// All that counts stands in the store: a Keeper may be stopped at any point and
// another one goes on. Several of them on one store do the same work twice and
// no harm.
package custody
