-- A unit and a run with spans in it, written by the sweep; gone where later
-- evidence took them apart.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS run_links${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    unit                   String,
    run                    String,
    version                UInt64,
    gone                   Bool,
    expires_at             DateTime('UTC') CODEC(Delta, ZSTD(1)),
    PROJECTION by_run (SELECT * ORDER BY tenant, run, unit)
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree(version)
PARTITION BY toMonday(expires_at)
ORDER BY (tenant, unit, run)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1, deduplicate_merge_projection_mode = 'rebuild';

CREATE TABLE IF NOT EXISTS run_links ${STEPTRAIL_ON_CLUSTER:-} AS run_links${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'run_links${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
