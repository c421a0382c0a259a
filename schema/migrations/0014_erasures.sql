-- Requests to erase, and how far each came. Append-only, no time limit.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS erasures ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    id                     FixedString(16),
    at                     DateTime64(3, 'UTC'),
    event                  Enum8('requested' = 1, 'started' = 2, 'done' = 3, 'failed' = 4),
    scope                  Enum8('run' = 1, 'target' = 2, 'user' = 3),
    subject_digest         FixedString(16),
    actor                  String,
    detail                 String,
    rows                   Int64
)
ENGINE = ${STEPTRAIL_REPLICATED:-}MergeTree
ORDER BY (tenant, id, at)
SETTINGS non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;
