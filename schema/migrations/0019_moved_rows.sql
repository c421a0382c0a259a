-- Rows whose term `retention apply` has changed, until they are deleted in favour
-- of their new copies: the work list of one that was interrupted.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS moved_rows${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    source                 LowCardinality(String),
    row                    String
)
ENGINE = ${STEPTRAIL_REPLICATED:-}ReplacingMergeTree
ORDER BY (tenant, source, row)
SETTINGS non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS moved_rows ${STEPTRAIL_ON_CLUSTER:-} AS moved_rows${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'moved_rows${STEPTRAIL_LOCAL:-}', cityHash64(tenant, row));
