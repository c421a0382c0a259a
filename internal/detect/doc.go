// Package detect finds what went wrong in a run: one detector per file, pure,
// over an agent.Run and the acts of other runs under its keys. It does no I/O
// and has no clock; the same run gives the same findings, in the same order,
// with the same ids, in the stream and in the sweep.
//
//	agent.Run + acts under its keys + policy → detectors → []agent.Finding
//
// It does not know how runs are derived (package agent), kept open (assemble)
// or stored. The list of detectors is in detect.go; thresholds come from the
// policy.
package detect
