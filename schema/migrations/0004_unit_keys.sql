-- What one span states that can join its unit with others: trace ids, links, tool
-- call ids asked, executed and answered, checkpoints.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS unit_keys${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    token                  String,
    started_at             DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    unit                   String,
    role                   Enum8('' = 0, 'trace' = 1, 'links' = 2, 'asks' = 3, 'executes' = 4, 'answered' = 5, 'checkpoint' = 6),
    service                LowCardinality(String),
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree
PARTITION BY toMonday(expires_at)
PRIMARY KEY (tenant, token)
ORDER BY (tenant, token, started_at, unit, role, service)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1, index_granularity = 2048;

CREATE TABLE IF NOT EXISTS unit_keys ${STEPTRAIL_ON_CLUSTER:-} AS unit_keys${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'unit_keys${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
