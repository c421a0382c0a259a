-- Legal holds on runs, and their release. Append-only, no time limit.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS holds ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    id                     FixedString(16),
    at                     DateTime64(3, 'UTC'),
    event                  Enum8('placed' = 1, 'released' = 2),
    run                    String,
    actor                  String,
    reason                 String
)
ENGINE = ${STEPTRAIL_REPLICATED:-}MergeTree
ORDER BY (tenant, id, at)
SETTINGS non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;
