package agentstorageextension

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap"

	"github.com/steptrail/steptrail/internal/store"
)

// Embedded is the DSN of the engine that comes with the program.
const Embedded = "embedded"

// Config of the extension. Defaults are those of createDefaultConfig.
type Config struct {
	// DSN is where the tables are: embedded, or a ClickHouse server as
	// clickhouse://, http:// or https://. It may hold a password.
	DSN configopaque.String `mapstructure:"dsn"`
	// Username and Password sign in to a server, where the DSN holds neither.
	Username string              `mapstructure:"username"`
	Password configopaque.String `mapstructure:"password"`
	// PasswordFile holds the password instead; a line break at its end is no
	// part of it. It is read at start.
	PasswordFile string `mapstructure:"password_file"`
	// CAFile is a PEM file with the authorities that a server's certificate may
	// be signed by, instead of those of the system.
	CAFile string `mapstructure:"ca_file"`
	// CertFile and KeyFile are PEM files with the certificate that is shown to
	// the server.
	CertFile string `mapstructure:"cert_file"`
	KeyFile  string `mapstructure:"key_file"`
	// DataDir is the folder in which the embedded engine keeps its data, below
	// engine/. It is not used with a server.
	DataDir string `mapstructure:"data_dir"`
	// Database holds the tables and is created where it is missing.
	Database string `mapstructure:"database"`
	// Cluster makes the tables replicated ones on the cluster of this name, each
	// behind a front over all its shards.
	Cluster string `mapstructure:"cluster"`
	// Migrate brings the tables to the newest version at start. Without it they
	// must be there.
	Migrate bool `mapstructure:"migrate"`
	// Engine tunes the embedded engine.
	Engine EngineConfig `mapstructure:"engine"`
}

// EngineConfig tunes the embedded engine.
type EngineConfig struct {
	// MaxMemoryMiB bounds the engine's own accounting; the process takes up to
	// about 200 MiB more.
	MaxMemoryMiB int64 `mapstructure:"max_memory_mib"`
	// MaxConcurrent is how many statements run at once; more wait.
	MaxConcurrent int `mapstructure:"max_concurrent"`
}

// minMemoryMiB is what the engine needs to start and to merge small parts.
const minMemoryMiB = 256

var (
	_    confmap.Validator = (*Config)(nil)
	name                   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)
)

// Validate reports every problem, each with its key.
func (c *Config) Validate() error {
	var errs []error
	switch {
	case c.DSN == "":
		errs = append(errs, errors.New("dsn must be set: embedded, clickhouse://host:9000, http://host:8123 or https://host:8443"))
	case c.embedded():
		if c.DataDir == "" {
			errs = append(errs, errors.New("data_dir must be set with dsn embedded"))
		}
		errs = append(errs, c.serverOnly()...)
	default:
		opts, err := c.options()
		if err != nil {
			errs = append(errs, fmt.Errorf("dsn: %w", err))
			break
		}
		errs = append(errs, c.checkAccess(opts)...)
	}
	if !name.MatchString(c.Database) {
		errs = append(errs, fmt.Errorf("database is %q, must be letters, digits and underscores", c.Database))
	}
	if c.Cluster != "" && !name.MatchString(c.Cluster) {
		errs = append(errs, fmt.Errorf("cluster is %q, must be letters, digits and underscores", c.Cluster))
	}
	if c.Engine.MaxMemoryMiB < minMemoryMiB {
		errs = append(errs, fmt.Errorf("engine::max_memory_mib is %d, must be at least %d", c.Engine.MaxMemoryMiB, minMemoryMiB))
	}
	if c.Engine.MaxConcurrent < 1 {
		errs = append(errs, fmt.Errorf("engine::max_concurrent is %d, must be at least 1", c.Engine.MaxConcurrent))
	}
	return errors.Join(errs...)
}

func (c *Config) embedded() bool { return string(c.DSN) == Embedded }

// options reads the DSN of a server. Errors do not repeat it: it may hold a
// password.
func (c *Config) options() (*clickhouse.Options, error) {
	scheme, _, ok := strings.Cut(string(c.DSN), "://")
	if !ok {
		return nil, errors.New("want embedded, clickhouse://, http:// or https://")
	}
	switch scheme {
	case "clickhouse", "http", "https":
	default:
		return nil, fmt.Errorf("scheme %q, want clickhouse, http or https", scheme)
	}
	opts, err := clickhouse.ParseDSN(encrypted(string(c.DSN)))
	if err != nil {
		return nil, errors.New("not a ClickHouse address: want scheme://[user:password@]host:port[,host:port…][/database][?option=value]")
	}
	if len(opts.Addr) == 0 || slices.Contains(opts.Addr, "") {
		return nil, errors.New("no host, or an empty one between commas")
	}
	if !name.MatchString(c.database(opts)) {
		return nil, errors.New("the database's name must be letters, digits and underscores")
	}
	return opts, nil
}

// encrypted says secure=true for https, as the client wants it said.
func encrypted(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != "https" || u.Query().Has("secure") {
		return dsn
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "secure=true"
	return u.String()
}

// database is the one of the config, unless only the DSN names one.
func (c *Config) database(opts *clickhouse.Options) string {
	if d := opts.Auth.Database; d != "" && c.Database == store.DefaultDatabase {
		return d
	}
	return c.Database
}
