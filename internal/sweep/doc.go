// Package sweep judges stored history. The stream judges spans as they come,
// from what it has in memory; the sweep judges whole runs from the store and
// writes down what holds in the end: links of units to runs, attempts, acts,
// summaries, findings.
//
//	run_changes → units that changed → quiet? → groups of units → agent.Runs
//	            → detect.Run → compare with what is written → write what differs
//
// It knows no tables and no clock: the store is an interface, the time an
// argument. Tick may be called by several processes on one store and again
// after a crash at any point: each judgement is derived from the rows alone,
// and a later one outranks an earlier one by its version.
package sweep
