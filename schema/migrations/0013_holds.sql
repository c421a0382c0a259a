-- Legal holds, what became of them, and who placed and ended them. Append-only,
-- no time limit: of the rows of a hold the one with the latest event counts, of
-- these the newest.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS holds${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    id                     FixedString(16),
    at                     DateTime64(9, 'UTC'),
    event                  Enum8('' = 0, 'placed' = 1, 'copied' = 2, 'released' = 3, 'ended' = 4),
    scope                  Enum8('' = 0, 'run' = 1, 'target' = 2, 'user' = 3, 'time' = 4),
    subject                String,
    from_at                DateTime64(9, 'UTC'),
    to_at                  DateTime64(9, 'UTC'),
    owner                  String,
    reason                 String,
    placed_at              DateTime64(9, 'UTC'),
    released_at            DateTime64(9, 'UTC'),
    runs                   Int64,
    rows                   Int64
)
ENGINE = ${STEPTRAIL_REPLICATED:-}MergeTree
ORDER BY (tenant, id, at)
SETTINGS non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS holds ${STEPTRAIL_ON_CLUSTER:-} AS holds${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'holds${STEPTRAIL_LOCAL:-}', cityHash64(tenant, id));
