package collector

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/otelcol"

	"github.com/steptrail/steptrail/collector/config"
)

// variables are all that the built-in config reads, and the keys they end up in.
var variables = []struct {
	name, value string
	keys        map[string]any
}{
	{"STEPTRAIL_OTLP_GRPC_ENDPOINT", "127.0.0.1:10001", map[string]any{"receivers::otlp::protocols::grpc::endpoint": "127.0.0.1:10001"}},
	{"STEPTRAIL_OTLP_HTTP_ENDPOINT", "127.0.0.1:10002", map[string]any{"receivers::otlp::protocols::http::endpoint": "127.0.0.1:10002"}},
	{"STEPTRAIL_QUERY_ENDPOINT", "127.0.0.1:10003", map[string]any{"extensions::agentquery::endpoint": "127.0.0.1:10003"}},
	{"STEPTRAIL_HEALTH_ENDPOINT", "127.0.0.1:10004", map[string]any{"extensions::health_check::endpoint": "127.0.0.1:10004"}},
	{"STEPTRAIL_DATA_DIR", "/var/lib/steptrail", map[string]any{
		"extensions::file_storage::directory":             "/var/lib/steptrail/queue",
		"extensions::file_storage::compaction::directory": "/var/lib/steptrail/queue",
		"extensions::agentstorage::data_dir":              "/var/lib/steptrail",
		"extensions::agentquery::data_dir":                "/var/lib/steptrail",
		"processors::agentstep::data_dir":                 "/var/lib/steptrail",
	}},
	{"STEPTRAIL_CLICKHOUSE_DSN", "clickhouse://db:9000/steptrail", map[string]any{"extensions::agentstorage::dsn": "clickhouse://db:9000/steptrail"}},
	{"STEPTRAIL_CLICKHOUSE_USER", "ingest", map[string]any{"extensions::agentstorage::username": "ingest"}},
	{"STEPTRAIL_CLICKHOUSE_PASSWORD", "hunter2", map[string]any{"extensions::agentstorage::password": "hunter2"}},
	{"STEPTRAIL_CLICKHOUSE_PASSWORD_FILE", "/run/pw", map[string]any{"extensions::agentstorage::password_file": "/run/pw"}},
	{"STEPTRAIL_CLICKHOUSE_CA_FILE", "/run/ca.pem", map[string]any{"extensions::agentstorage::ca_file": "/run/ca.pem"}},
	{"STEPTRAIL_CLICKHOUSE_CLUSTER", "main", map[string]any{"extensions::agentstorage::cluster": "main"}},
	{"STEPTRAIL_POLICY_FILE", "/etc/steptrail/policy.yaml", map[string]any{
		"processors::agentstep::policy_file":     "/etc/steptrail/policy.yaml",
		"extensions::agentanalyzer::policy_file": "/etc/steptrail/policy.yaml",
		"extensions::agentquery::policy_file":    "/etc/steptrail/policy.yaml",
	}},
	{"STEPTRAIL_INSECURE", "true", map[string]any{"extensions::agentquery::insecure": true}},
}

func TestEveryVariableReachesItsKeys(t *testing.T) {
	for _, v := range variables {
		t.Run(v.name, func(t *testing.T) {
			before := resolve(t)
			t.Setenv(v.name, v.value)
			after := resolve(t)
			for key, want := range v.keys {
				require.True(t, before.IsSet(key), "%s has no default", key)
				require.NotEqual(t, want, before.Get(key), key)
				require.Equal(t, want, after.Get(key), key)
			}
		})
	}
}

func TestInsecureHasToBeSaidForOpenListeners(t *testing.T) {
	t.Setenv("STEPTRAIL_DATA_DIR", t.TempDir())
	t.Setenv("STEPTRAIL_OTLP_HTTP_ENDPOINT", "0.0.0.0:4318")
	t.Setenv("STEPTRAIL_QUERY_ENDPOINT", "0.0.0.0:8686")
	require.ErrorContains(t, dryRun(t, config.AllInOne), "insecure")
	t.Setenv("STEPTRAIL_INSECURE", "true")
	require.NoError(t, dryRun(t, config.AllInOne))
}

func TestMissingPolicyIsRefused(t *testing.T) {
	t.Setenv("STEPTRAIL_DATA_DIR", t.TempDir())
	t.Setenv("STEPTRAIL_POLICY_FILE", "/nowhere/policy.yaml")
	require.ErrorContains(t, dryRun(t, config.AllInOne), "/nowhere/policy.yaml")
}

func TestTelemetryPortIsAVariable(t *testing.T) {
	t.Setenv("STEPTRAIL_TELEMETRY_PORT", "10005")
	readers := fmt.Sprint(resolve(t).Get("service::telemetry::metrics::readers"))
	require.Contains(t, readers, "port:10005")
	require.Contains(t, readers, "host:127.0.0.1")
}

func TestBuiltinConfigIsValid(t *testing.T) {
	t.Setenv("STEPTRAIL_DATA_DIR", t.TempDir())
	require.NoError(t, dryRun(t, config.AllInOne))
}

func TestBuiltinConfigTakesChangesFromAFileAfterIt(t *testing.T) {
	t.Setenv("STEPTRAIL_DATA_DIR", t.TempDir())
	require.NoError(t, dryRun(t, config.AllInOne, "yaml:processors::memory_limiter::limit_percentage: 40"))
	err := dryRun(t, config.AllInOne, "yaml:processors::memory_limiter::limit_percent: 40")
	require.ErrorContains(t, err, "limit_percent")
}

func TestOpenListenerIsRefusedBeforeAnythingStarts(t *testing.T) {
	t.Setenv("STEPTRAIL_DATA_DIR", t.TempDir())
	t.Setenv("STEPTRAIL_OTLP_GRPC_ENDPOINT", "0.0.0.0:4317")
	require.ErrorContains(t, dryRun(t, config.AllInOne), "receivers::otlp::protocols::grpc::endpoint")
}

// resolve returns the built-in config with all variables expanded.
func resolve(t *testing.T) *confmap.Conf {
	t.Helper()
	set := Settings("test").ConfigProviderSettings.ResolverSettings
	set.URIs = []string{config.AllInOne}
	resolver, err := confmap.NewResolver(set)
	require.NoError(t, err)
	conf, err := resolver.Resolve(t.Context())
	require.NoError(t, err)
	require.NoError(t, resolver.Shutdown(t.Context()))
	return conf
}

// dryRun does what `steptrail validate` does.
func dryRun(t *testing.T, uris ...string) error {
	t.Helper()
	set := Settings("test")
	set.ConfigProviderSettings.ResolverSettings.URIs = uris
	col, err := otelcol.NewCollector(set)
	require.NoError(t, err)
	return col.DryRun(t.Context())
}
