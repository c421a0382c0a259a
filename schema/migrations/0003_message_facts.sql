-- One row per message of a unit: what the rules need of it. It outlives the body
-- and lives as long as the longest step that refers to it.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS message_facts${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    unit                   String,
    hash                   FixedString(16),
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1)),
    erased                 Bool COMMENT 'hash and references are pseudonyms of an erasure',
    role                   Enum8('' = 0, 'system' = 1, 'user' = 2, 'assistant' = 3, 'tool' = 4),
    user_text              Bool,
    text_digest            FixedString(16),
    call_ids               Array(String),
    call_tools             Array(LowCardinality(String)),
    call_states            Array(Enum8('' = 0, 'opaque' = 1, 'yes' = 2)),
    call_digests           Array(FixedString(16)),
    call_refs              Array(FixedString(16)),
    call_sizes             Array(Int64),
    call_kinds             Array(Enum8('' = 0, 'think' = 1, 'read' = 2, 'act' = 3, 'human' = 4, 'reconcile' = 5, 'other' = 6)),
    call_kind_sources      Array(Enum8('' = 0, 'policy' = 1, 'reported' = 2, 'dialect' = 3, 'evidence' = 4, 'default' = 5)),
    call_output_functions  Array(Bool),
    answer_ids             Array(String),
    answer_tools           Array(LowCardinality(String)),
    answer_states          Array(Enum8('' = 0, 'opaque' = 1, 'yes' = 2)),
    answer_digests         Array(FixedString(16)),
    answer_refs            Array(FixedString(16)),
    answer_sizes           Array(Int64),
    answer_signs           Array(Enum8('' = 0, 'ok' = 1, 'rejected' = 2, 'lost' = 3, 'exception' = 4, 'deferred' = 5, 'refused' = 6, 'receipt' = 7))
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree
PARTITION BY toMonday(expires_at)
ORDER BY (tenant, unit, hash)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1, index_granularity = 4096;

CREATE TABLE IF NOT EXISTS message_facts ${STEPTRAIL_ON_CLUSTER:-} AS message_facts${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'message_facts${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
