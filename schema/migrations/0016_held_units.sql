-- The units and runs that a hold covers. Whether it still does, holds tells.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS held_units${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    unit                   String,
    job                    FixedString(16),
    run                    String,
    at                     DateTime64(9, 'UTC')
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree(at)
ORDER BY (tenant, unit, job, run)
SETTINGS non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS held_units ${STEPTRAIL_ON_CLUSTER:-} AS held_units${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'held_units${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
