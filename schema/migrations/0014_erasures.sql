-- Requests to erase, and how far each came. Append-only, no time limit; of the
-- rows of an erasure the newest counts. subject is emptied as soon as it is known
-- which runs it stands for; subject_digest stays.
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE IF NOT EXISTS erasures${STEPTRAIL_LOCAL:-} ${STEPTRAIL_ON_CLUSTER:-}
(
    tenant                 LowCardinality(String),
    id                     FixedString(16),
    at                     DateTime64(9, 'UTC'),
    event                  Enum8('' = 0, 'requested' = 1, 'resolved' = 2, 'erased' = 3, 'done' = 4),
    scope                  Enum8('' = 0, 'run' = 1, 'target' = 2, 'user' = 3, 'time' = 4),
    subject                String,
    subject_digest         FixedString(32),
    full                   Bool,
    owner                  String,
    reason                 String,
    requested_at           DateTime64(9, 'UTC'),
    done_at                DateTime64(9, 'UTC'),
    waiting                Int64
)
ENGINE = ${STEPTRAIL_REPLICATED:-}MergeTree
ORDER BY (tenant, id, at)
SETTINGS non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(1)', auto_statistics_types = '', ratio_of_defaults_for_sparse_serialization = 1;

CREATE TABLE IF NOT EXISTS erasures ${STEPTRAIL_ON_CLUSTER:-} AS erasures${STEPTRAIL_LOCAL:-}
ENGINE = Distributed('${STEPTRAIL_CLUSTER:-default}', '${STEPTRAIL_DATABASE:-steptrail}', 'erasures${STEPTRAIL_LOCAL:-}', cityHash64(tenant, id));
