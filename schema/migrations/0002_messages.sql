-- One row per message, argument or result body, once per unit and expiry week.
-- hash is the first 16 bytes of the SHA-256 of body (docs/adr/007).
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS messages${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    unit                   String,
    hash                   FixedString(16),
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1)),
    body                   String CODEC(ZSTD(3))
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree
PARTITION BY toMonday(expires_at)
ORDER BY (tenant, unit, hash)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1, index_granularity = 256, min_bytes_for_wide_part = 262144, min_compress_block_size = 1048576, max_compress_block_size = 1048576;

CREATE TABLE IF NOT EXISTS messages ${STEPTRAIL_ON_CLUSTER:-} AS messages${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'messages${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
