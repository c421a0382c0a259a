package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/pdata/pcommon"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/store"
)

// storeFlags say which store a subcommand works on; the defaults are those of
// serve's built-in config.
type storeFlags struct {
	dsn          string
	username     string
	passwordFile string
	caFile       string
	cluster      string
	dataDir      string
	mayCreate    bool // a new embedded store, where there is none yet
}

func (f *storeFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dsn, "dsn", fromEnv("STEPTRAIL_CLICKHOUSE_DSN", agentstorageextension.Embedded), "the `store`: embedded, clickhouse://…, http://… or https://…; a password is better kept in STEPTRAIL_CLICKHOUSE_DSN")
	cmd.Flags().StringVar(&f.username, "user", os.Getenv("STEPTRAIL_CLICKHOUSE_USER"), "`user` of a server; the default comes from STEPTRAIL_CLICKHOUSE_USER, its password from STEPTRAIL_CLICKHOUSE_PASSWORD")
	cmd.Flags().StringVar(&f.passwordFile, "password-file", os.Getenv("STEPTRAIL_CLICKHOUSE_PASSWORD_FILE"), "`file` with the password; the default comes from STEPTRAIL_CLICKHOUSE_PASSWORD_FILE")
	cmd.Flags().StringVar(&f.caFile, "ca-file", os.Getenv("STEPTRAIL_CLICKHOUSE_CA_FILE"), "PEM `file` of the authorities of a server's certificate; the default comes from STEPTRAIL_CLICKHOUSE_CA_FILE")
	cmd.Flags().StringVar(&f.cluster, "cluster", os.Getenv("STEPTRAIL_CLICKHOUSE_CLUSTER"), "`name` of the cluster that the tables are spread over; the default comes from STEPTRAIL_CLICKHOUSE_CLUSTER")
	cmd.Flags().StringVar(&f.dataDir, "data-dir", fromEnv("STEPTRAIL_DATA_DIR", "./steptrail-data"), "`folder` of the embedded engine's data; the default comes from STEPTRAIL_DATA_DIR")
	cmd.Flags().Lookup("dsn").DefValue = "STEPTRAIL_CLICKHOUSE_DSN, else embedded" // may hold a password
}

func fromEnv(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// readyWait bounds how long a store may take to be reached and migrated.
const readyWait = 2 * time.Minute

// with opens the store as serve does, which migrates it, and calls do. The
// embedded engine's data folder has one owner: while serve runs, this fails and
// says who holds it. A folder without stored data is an error unless mayCreate.
func (f *storeFlags) with(ctx context.Context, do func(context.Context, *store.Store) error) (err error) {
	if f.dsn == agentstorageextension.Embedded && !f.mayCreate {
		if _, err := os.Stat(filepath.Join(f.dataDir, "engine")); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("no data is stored in %s: name the data folder of serve with --data-dir or STEPTRAIL_DATA_DIR", f.dataDir)
		}
	}
	factory := agentstorageextension.NewFactory()
	cfg := factory.CreateDefaultConfig().(*agentstorageextension.Config) //nolint:forcetypeassert // the factory's own
	cfg.DSN, cfg.DataDir, cfg.Migrate = configopaque.String(f.dsn), f.dataDir, true
	cfg.Username, cfg.PasswordFile, cfg.CAFile, cfg.Cluster = f.username, f.passwordFile, f.caFile, f.cluster
	cfg.Password = configopaque.String(os.Getenv("STEPTRAIL_CLICKHOUSE_PASSWORD"))
	if err := cfg.Validate(); err != nil {
		return err
	}
	log, err := quietLogger()
	if err != nil {
		return err
	}
	ext, err := factory.Create(ctx, extension.Settings{
		ID: component.NewID(factory.Type()),
		TelemetrySettings: component.TelemetrySettings{
			Logger: log, TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider(), Resource: pcommon.NewResource(),
		},
	}, cfg)
	if err != nil {
		return err
	}
	if err := ext.Start(ctx, noHost{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ext.Shutdown(context.WithoutCancel(ctx))) }()
	st, err := waitReady(ctx, ext.(agentstorageextension.Storage)) //nolint:forcetypeassert // the extension is one
	if err != nil {
		return err
	}
	return do(ctx, st)
}

func waitReady(ctx context.Context, s agentstorageextension.Storage) (*store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		st, err := s.Store()
		if err == nil {
			return st, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("after %s: %w", readyWait, err)
		case <-tick.C:
		}
	}
}

// quietLogger writes warnings and errors only, to stderr.
func quietLogger() (*zap.Logger, error) {
	cfg := zap.NewProductionConfig()
	cfg.Encoding, cfg.Level = "console", zap.NewAtomicLevelAt(zap.WarnLevel)
	cfg.DisableCaller, cfg.DisableStacktrace, cfg.Sampling = true, true, nil
	return cfg.Build()
}

type noHost struct{}

func (noHost) GetExtensions() map[component.ID]component.Component { return nil }
