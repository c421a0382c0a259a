-- One row per derived attempt, written by the sweep. A row counts if its version is
-- that of its run's newest row in runs: a sweep writes all attempts of a run.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS attempts${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    unit                   String,
    started_at             DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    trace_id               FixedString(16),
    span_id                FixedString(8),
    part                   UInt16,
    call_id                String,
    run                    String,
    version                UInt64,
    agent                  LowCardinality(String),
    run_agent              LowCardinality(String),
    task_type              LowCardinality(String),
    step_id                String,
    attempt                Int32,
    attempt_source         Enum8('' = 0, 'reported' = 1, 'events' = 2, 'order' = 3),
    lane                   LowCardinality(String),
    kind                   Enum8('' = 0, 'think' = 1, 'read' = 2, 'act' = 3, 'human' = 4, 'reconcile' = 5, 'other' = 6),
    kind_source            Enum8('' = 0, 'policy' = 1, 'reported' = 2, 'dialect' = 3, 'evidence' = 4, 'default' = 5),
    op                     Enum8('' = 0, 'model' = 1, 'tool' = 2, 'agent' = 3, 'workflow' = 4, 'retrieval' = 5, 'human' = 6, 'gate' = 7, 'handoff' = 8, 'http' = 9),
    outcome                Enum8('' = 0, 'ok' = 1, 'error' = 2, 'unknown' = 3, 'refused' = 4, 'deferred' = 5),
    gate                   Enum8('' = 0, 'new' = 1, 'duplicate' = 2, 'in_flight' = 3, 'unknown' = 4),
    executed               Bool,
    no_span                Bool,
    seen                   Bool,
    tool                   LowCardinality(String),
    target                 String,
    key                    String,
    model                  LowCardinality(String),
    prompt_version         LowCardinality(String),
    ended_at               DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    error_type             LowCardinality(String),
    status_code            Int32,
    requests               Int32,
    tokens_known           Bool,
    tokens_input           Int64,
    tokens_output          Int64,
    tokens_cache_read      Int64,
    tokens_cache_write     Int64,
    tokens_reasoning       Int64,
    cost_nano              Int64,
    cost_source            Enum8('' = 0, 'reported' = 1, 'computed' = 2),
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1)),
    PROJECTION by_run (SELECT _part_offset ORDER BY tenant, run)
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree(version)
PARTITION BY toMonday(expires_at)
ORDER BY (tenant, unit, started_at, trace_id, span_id, part, call_id)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1, deduplicate_merge_projection_mode = 'rebuild';

CREATE TABLE IF NOT EXISTS attempts ${STEPTRAIL_ON_CLUSTER:-} AS attempts${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'attempts${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
