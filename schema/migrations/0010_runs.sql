-- The summary of a run, written by the sweep; the newest version counts. gone
-- where later evidence took the run into another one.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS runs${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    run                    String,
    version                UInt64,
    gone                   Bool,
    merged_into            String,
    id_source              Enum8('' = 0, 'reported' = 1, 'inherited' = 2, 'inferred' = 3),
    parent_run             String,
    session                String,
    agent                  LowCardinality(String),
    task_type              LowCardinality(String),
    user                   String,
    scenario               String,
    status                 Enum8('' = 0, 'running' = 1, 'ended' = 2, 'paused' = 3, 'stalled' = 4),
    outcome                Enum8('' = 0, 'success' = 1, 'failure' = 2, 'escalated' = 3, 'limit' = 4, 'paused' = 5, 'abandoned' = 6),
    outcome_stated         Bool,
    escalation             LowCardinality(String),
    started_at             DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    ended_at               DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    kind_steps             Array(Int64),
    kind_attempts          Array(Int64),
    kind_errors            Array(Int64),
    operation_tokens_known Bool,
    operation_tokens_input Int64,
    operation_tokens_output Int64,
    operation_tokens_cache_read Int64,
    operation_tokens_cache_write Int64,
    operation_tokens_reasoning Int64,
    operation_cost_nano    Int64,
    operation_cost_source  Enum8('' = 0, 'reported' = 1, 'computed' = 2),
    attempt_tokens_known   Bool,
    attempt_tokens_input   Int64,
    attempt_tokens_output  Int64,
    attempt_tokens_cache_read Int64,
    attempt_tokens_cache_write Int64,
    attempt_tokens_reasoning Int64,
    attempt_cost_nano      Int64,
    attempt_cost_source    Enum8('' = 0, 'reported' = 1, 'computed' = 2),
    models                 Array(LowCardinality(String)),
    prompt_versions        Array(LowCardinality(String)),
    traces                 Array(FixedString(16)),
    tools                  Array(LowCardinality(String)),
    targets                Array(String),
    findings               Map(LowCardinality(String), Int64),
    unknown_open           Int64,
    policy_hash            LowCardinality(String),
    root_seen              Bool,
    dropped_attributes     Int64,
    calls_not_seen         Int64,
    attempts_visible       Enum8('none' = 0, 'some' = 1, 'all' = 2),
    arguments_recorded     Float64,
    content_first          Int64,
    content_last           Int64,
    spans                  Int64,
    units                  Array(String),
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1)),
    INDEX by_started started_at TYPE minmax GRANULARITY 1,
    INDEX by_ended ended_at TYPE minmax GRANULARITY 1,
    INDEX by_trace traces TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree(version)
PARTITION BY toMonday(expires_at)
ORDER BY (tenant, run)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1, index_granularity = 2048;

CREATE TABLE IF NOT EXISTS runs ${STEPTRAIL_ON_CLUSTER:-} AS runs${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'runs${STEPTRAIL_LOCAL:-}', cityHash64(tenant, run));
