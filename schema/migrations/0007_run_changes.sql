-- Which units rows were inserted for, and when by the server's clock: the sweep's
-- work list.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS run_changes${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    unit                   String,
    rows                   Int64,
    inserted_at            DateTime64(9, 'UTC') DEFAULT now64(9)
)
ENGINE = ${STEPTRAIL_REPLICATED:-}MergeTree
PARTITION BY toDate(inserted_at)
ORDER BY (inserted_at, tenant, unit)
TTL toDateTime(inserted_at) + INTERVAL 2 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS run_changes ${STEPTRAIL_ON_CLUSTER:-} AS run_changes${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'run_changes${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
