// Package assemble keeps the runs that are still going on while their spans
// stream by, so that each span can be judged together with what came before it.
//
//	steps of a request → groups of units that belong together → agent.Runs → judge → verdicts
//
// A group is every unit that, as far as seen, may be one run with another: same
// unit or trace, a link, a call id that one asks for and another runs, a
// checkpoint. What belongs to which run is decided by package agent, not here.
// Memory has a bound in bytes: what was quiet longest goes first, counted and
// left to the sweep, as are runs longer than the window. The package has no
// clock, goroutine or lock: time is an argument, and the caller serialises.
package assemble
