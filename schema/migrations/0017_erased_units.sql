-- The units and runs that an erasure covers. What arrives for them later is
-- erased as well.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS erased_units${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    unit                   String,
    job                    FixedString(16),
    run                    String,
    full                   Bool,
    at                     DateTime64(9, 'UTC')
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree(at)
ORDER BY (tenant, unit, job, run)
SETTINGS non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS erased_units ${STEPTRAIL_ON_CLUSTER:-} AS erased_units${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'erased_units${STEPTRAIL_LOCAL:-}', cityHash64(tenant, unit));
