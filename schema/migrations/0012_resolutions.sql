-- What people settled: an unknown outcome by its finding and attempt. Append-only.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS resolutions${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    finding                FixedString(16),
    resolved_at            DateTime64(3, 'UTC'),
    id                     FixedString(16),
    run                    String,
    unit                   String,
    trace_id               FixedString(16),
    span_id                FixedString(8),
    part                   UInt16,
    result                 Enum8('' = 0, 'applied' = 1, 'not_applied' = 2),
    actor                  String,
    note                   String,
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ${STEPTRAIL_REPLICATED:-}MergeTree
PARTITION BY toMonday(expires_at)
ORDER BY (tenant, finding, resolved_at, id)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS resolutions ${STEPTRAIL_ON_CLUSTER:-} AS resolutions${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'resolutions${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
