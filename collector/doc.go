// Package collector is the Steptrail distribution: which components it holds, how its config is found and checked,
// and the built-in configs. It knows factories and config keys, and nothing of spans, runs or tables.
//
//	components.go   the list of components, one visible function
//	settings.go     list + config providers + version → otelcol.CollectorSettings
//	provider.go     --config builtin:all-in-one → the embedded config/all-in-one.yaml
//	listenguard.go  resolved config → refused if a receiver listens beyond loopback for anybody
//
// The same list stands in builder.yaml, for the upstream builder (ocb); a test keeps the two and go.mod equal.
package collector
