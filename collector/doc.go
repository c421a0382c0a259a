// Package collector is the Steptrail distribution: which components it holds, how its config is found and checked,
// and the built-in configs. It knows factories and config keys, and nothing of spans, runs or tables.
//
//	components.go  the list of components
//	settings.go    list + config providers + version → otelcol.CollectorSettings
//	config/        --config builtin:all-in-one → the embedded all-in-one.yaml
//	listenguard/   resolved config → refused if a receiver listens beyond loopback for anybody
//	policy/        the demo policy
//
// The same list stands in builder.yaml, for the upstream builder (ocb); a test keeps the two and go.mod equal.
package collector
