// Package agentqueryextension runs the query API inside a collector. It connects
// package query to the storage extension and the policy, listens, and says when
// the process is ready. What an answer looks like it does not know.
//
//	config → listener → query.Server → adapter → agentstorage
//
// It answers /healthz from its start on, and /readyz with 200 once the storage
// is migrated and the collector has started its pipelines.
package agentqueryextension
