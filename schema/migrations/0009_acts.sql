-- Narrow copy of the attempts that are acts, human or reconcile steps: what was
-- done to a target, and what was done under a key.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS acts${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    target                 String,
    started_at             DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    trace_id               FixedString(16),
    span_id                FixedString(8),
    part                   UInt16,
    version                UInt64,
    gone                   Bool,
    run                    String,
    unit                   String,
    step_id                String,
    attempt                Int32,
    kind                   Enum8('' = 0, 'think' = 1, 'read' = 2, 'act' = 3, 'human' = 4, 'reconcile' = 5, 'other' = 6),
    agent                  LowCardinality(String),
    tool                   LowCardinality(String),
    key                    String,
    gate                   Enum8('' = 0, 'new' = 1, 'duplicate' = 2, 'in_flight' = 3, 'unknown' = 4),
    outcome                Enum8('' = 0, 'ok' = 1, 'error' = 2, 'unknown' = 3, 'refused' = 4, 'deferred' = 5),
    executed               Bool,
    ended_at               DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1)),
    INDEX by_key key TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_unit unit TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree(version)
PARTITION BY toMonday(expires_at)
ORDER BY (tenant, target, started_at, trace_id, span_id, part)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1, index_granularity = 4096;

CREATE TABLE IF NOT EXISTS acts ${STEPTRAIL_ON_CLUSTER:-} AS acts${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'acts${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
