// Package query answers questions over HTTP: runs, a run's history, findings,
// unknown outcomes; and takes a person's word on the last. It implements the API that api/openapi.yaml describes.
//
//	request → limits, host, parameters → handler → Reader → agent.NewRun → JSON, NDJSON or a problem document
//
// It reads history through interfaces of its own and derives each run that it
// shows in full anew from its spans, so that an answer is never older than what
// is stored. Of the policy it knows what an unknown outcome asks for. It
// knows no tables and no collector: the extension agentquery connects it to
// those. Everything that spans say is hostile: it
// leaves this package as JSON strings and values, never as markup or header.
package query
