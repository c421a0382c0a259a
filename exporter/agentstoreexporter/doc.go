// Package agentstoreexporter writes annotated spans and log records to the
// store. It knows the canonical form and the store's batches, and neither
// tables nor how a run is derived.
//
//	ptrace, plog → canon.Reader → store.Batch (the request) → queue → merge → Store.Insert
//
// Telemetry becomes columns on its way into the queue, once: the queue, in
// memory or on disk, holds no pdata, and batching joins columns. A request is
// acknowledged when it is in the queue; with sending_queue::storage set that is
// on disk (docs/adr/008-own-request-type.md).
package agentstoreexporter
