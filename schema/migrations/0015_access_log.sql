-- Who read which run's content, and when. Append-only.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS access_log${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    at                     DateTime64(3, 'UTC'),
    actor                  String,
    role                   LowCardinality(String),
    action                 LowCardinality(String),
    run                    String,
    detail                 String,
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ${STEPTRAIL_REPLICATED:-}MergeTree
PARTITION BY toMonday(expires_at)
ORDER BY (tenant, at, run)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS access_log ${STEPTRAIL_ON_CLUSTER:-} AS access_log${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'access_log${STEPTRAIL_LOCAL:-}', cityHash64(tenant, run));
