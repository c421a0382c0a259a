-- The certificate of an erasure: what was removed from which table, by count and
-- SHA-256 of the rows, not by content. Written before the rows go; what was
-- interrupted and begun again stands here twice with one digest.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS removals${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    job                    FixedString(16),
    at                     DateTime64(9, 'UTC'),
    source                 LowCardinality(String),
    rows                   Int64,
    digest                 FixedString(32)
)
ENGINE = ${STEPTRAIL_REPLICATED:-}MergeTree
ORDER BY (tenant, job, source, at)
SETTINGS non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS removals ${STEPTRAIL_ON_CLUSTER:-} AS removals${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'removals${STEPTRAIL_LOCAL:-}', cityHash64(tenant, job));
