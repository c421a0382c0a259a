package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"github.com/steptrail/steptrail/schema"
)

// Migrate creates the database and brings the tables to the newest version. It
// may be repeated, also after it failed half way or beside another one.
func (s *Store) Migrate(ctx context.Context) error {
	if err := s.createDatabase(ctx); err != nil {
		return fmt.Errorf("create database %s: %w", s.cfg.Database, err)
	}
	fsys, err := schema.Migrations(s.cfg.Database, s.cfg.Cluster)
	if err != nil {
		return err
	}
	versions, err := s.versionTable()
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	db := s.migrator(s.cfg.Database)
	defer func() { _ = db.Close() }()
	provider, err := goose.NewProvider(goose.DialectCustom, db, fsys, goose.WithSlog(s.cfg.Logger), goose.WithStore(versions))
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	done, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if len(done) > 0 {
		s.cfg.Logger.InfoContext(ctx, "store migrated", "database", s.cfg.Database, "migrations", len(done))
	}
	return nil
}

func (s *Store) createDatabase(ctx context.Context) error {
	db := s.migrator("")
	defer func() { _ = db.Close() }()
	_, err := db.ExecContext(ctx, createDatabaseStatement(s.cfg.Database, s.cfg.Cluster))
	return err
}

// createDatabaseStatement is the one statement that no parameter can carry: both
// names are checked to be plain identifiers.
func createDatabaseStatement(database, cluster string) string {
	statement := "CREATE DATABASE IF NOT EXISTS `" + database + "`"
	if cluster != "" {
		statement += " ON CLUSTER `" + cluster + "`"
	}
	return statement
}

// migrator opens the connections of a migration. They stay with one server
// while it answers, whatever the strategy of all others is.
func (s *Store) migrator(database string) *sql.DB {
	o := withDatabase(s.opts, database)
	o.ConnOpenStrategy = clickhouse.ConnOpenInOrder
	return clickhouse.OpenDB(o)
}

// versionTable is where goose notes what is done.
func (s *Store) versionTable() (database.Store, error) {
	table, err := database.NewStore(database.DialectClickHouse, goose.DefaultTablename)
	if err != nil || s.cfg.Cluster == "" {
		return table, err
	}
	return clusterVersions{Store: table, cluster: s.cfg.Cluster}, nil
}

// clusterVersions keeps one table of versions for a whole cluster: each server
// has a replica of it, so that a migration done through one is done for all.
type clusterVersions struct {
	database.Store
	cluster string // a checked identifier
}

// CreateVersionTable implements database.Store.
func (c clusterVersions) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	if _, err := db.ExecContext(ctx, c.statement()); err != nil {
		return fmt.Errorf("create version table on cluster %s: %w", c.cluster, err)
	}
	return nil
}

// statement is goose's own, but for the engine: all replicas of all shards share
// one path in Keeper.
func (c clusterVersions) statement() string {
	return "CREATE TABLE IF NOT EXISTS " + c.Tablename() + " ON CLUSTER `" + c.cluster + "` (" +
		"version_id Int64, is_applied UInt8, date Date DEFAULT now(), tstamp DateTime DEFAULT now()) " +
		"ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/all', '{shard}-{replica}') ORDER BY (version_id)"
}
