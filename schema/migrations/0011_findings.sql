-- One row per finding and version: 0 from the stream, the sweep's time from the
-- sweep; the newest version counts.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS findings${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    run                    String,
    id                     FixedString(16),
    version                UInt64,
    kind                   LowCardinality(String),
    anchor                 String,
    severity               Enum8('' = 0, 'info' = 1, 'warning' = 2, 'critical' = 3),
    status                 Enum8('' = 0, 'open' = 1, 'resolved' = 2, 'withdrawn' = 3),
    step_id                String,
    tool                   LowCardinality(String),
    agent                  LowCardinality(String),
    detected_at            DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    message                String,
    evidence_units         Array(String),
    evidence_traces        Array(FixedString(16)),
    evidence_spans         Array(FixedString(8)),
    evidence_attempts      Array(Int32),
    waste_attempts         Int64,
    waste_duration         Int64,
    waste_tokens           Int64,
    waste_cost_nano        Int64,
    merged_into            FixedString(16),
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1)),
    INDEX by_id id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_detected detected_at TYPE minmax GRANULARITY 1
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree(version)
PARTITION BY toMonday(expires_at)
ORDER BY (tenant, run, id)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS findings ${STEPTRAIL_ON_CLUSTER:-} AS findings${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'findings${STEPTRAIL_LOCAL:-}', cityHash64(tenant, run));
