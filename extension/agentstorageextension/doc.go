// Package agentstorageextension holds the connection to ClickHouse that the
// exporter, the query API and the analyzer share: the DSN, the pool, the
// migrations, and the life of the embedded engine. It knows no table.
//
//	dsn → embedded engine or server → migrations, repeated until they succeed → Store()
//
// Extensions are shut down after the pipelines, so the exporter's last inserts
// still find the engine.
package agentstorageextension
