-- Content that came as log records instead of on its span; the body stands in
-- messages, what the rules need of it in message_facts.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS log_content${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    trace_id               FixedString(16),
    span_id                FixedString(8),
    position               Int32,
    output                 Bool,
    hash                   FixedString(16),
    unit                   String,
    started_at             DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1)),
    erased                 Bool COMMENT 'hash is the pseudonym of an erasure',
    inserted_at            DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree
PARTITION BY toMonday(expires_at)
PRIMARY KEY (tenant, trace_id, span_id)
ORDER BY (tenant, trace_id, span_id, position, output, hash)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS log_content ${STEPTRAIL_ON_CLUSTER:-} AS log_content${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'log_content${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
