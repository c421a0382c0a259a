// Package e2e runs the built program as its users do: it starts bin/steptrail with an empty data folder on ports of its
// own, sends OTLP, asks the API, and kills processes by their id. It knows the program's variables, its API paths and
// the layout of OTLP, and imports nothing else of this module. The harness (files without _test) serves bench/ too.
//
//	Start → process, ports, /readyz → SendTraces, Get, Metric, Kill, KillEngine, Restart → Stop: status 0 within 30 s
//
// The program is bin/steptrail at the module's root, built anew unless STEPTRAIL_BIN names one.
package e2e
