package engine_test

import (
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

func TestGooseMigrates(t *testing.T) {
	e := enginetest.Start(t)
	files := fstest.MapFS{
		"0001_first.sql": {Data: []byte(`-- +goose NO TRANSACTION
-- +goose ENVSUB ON
-- +goose Up
CREATE TABLE first (a UInt64, s String DEFAULT 'a;b') ENGINE = ${ENGINE:-MergeTree} ORDER BY a;
CREATE MATERIALIZED VIEW view ENGINE = SummingMergeTree ORDER BY s AS SELECT s, count() AS n FROM first GROUP BY s;
-- +goose Down
DROP TABLE view SYNC;
DROP TABLE first SYNC;
`)},
		"0002_second.sql": {Data: []byte(`-- +goose Up
-- +goose StatementBegin
INSERT INTO first (a) VALUES (1), (2);
-- +goose StatementEnd
ALTER TABLE first ADD COLUMN b LowCardinality(String);
-- +goose Down
ALTER TABLE first DROP COLUMN b;
`)},
	}
	provider, err := goose.NewProvider(goose.DialectClickHouse, e.DB(), files)
	require.NoError(t, err)
	for range 2 {
		done, err := provider.Up(t.Context())
		require.NoError(t, err)
		assert.Len(t, done, 2)
		version, err := provider.GetDBVersion(t.Context())
		require.NoError(t, err)
		assert.Equal(t, int64(2), version)
		assert.Equal(t, "a;b\t2\n", query(t, e, "SELECT s, sum(n) FROM view GROUP BY s"))

		_, err = provider.DownTo(t.Context(), 0)
		require.NoError(t, err)
		version, err = provider.GetDBVersion(t.Context())
		require.NoError(t, err)
		assert.Zero(t, version)
		assert.Equal(t, "goose_db_version\n", query(t, e, "SHOW TABLES"))
	}
}
