package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/otelcol"
	"go.yaml.in/yaml/v3"

	"github.com/steptrail/steptrail/collector"
)

const root = ".."

// secrets are what .env must give, as the example says.
var secrets = []string{"STEPTRAIL_REDACTION_KEY=0123456789abcdef0123456789abcdef", "CLICKHOUSE_PASSWORD=swordfish", "GRAFANA_PASSWORD=swordfish"}

func load(t *testing.T, env ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "docker-compose.yml")}, cli.WithEnv(env), cli.WithInterpolation(true))
	require.NoError(t, err)
	return options.LoadProject(t.Context())
}

func project(t *testing.T) *types.Project {
	t.Helper()
	p, err := load(t, secrets...)
	require.NoError(t, err)
	return p
}

func TestTheComposeFileNeedsItsSecretsAndHoldsNone(t *testing.T) {
	for _, s := range secrets {
		name, _, _ := strings.Cut(s, "=")
		var others []string
		for _, o := range secrets {
			if o != s {
				others = append(others, o)
			}
		}
		if name != "GRAFANA_PASSWORD" { // a secret of its own, which compose asks for when it makes it
			_, err := load(t, others...)
			require.ErrorContains(t, err, name)
		}
	}
	example, err := os.ReadFile("env.example")
	require.NoError(t, err)
	for _, s := range secrets {
		name, _, _ := strings.Cut(s, "=")
		require.Regexp(t, "(?m)^"+name+"=$", string(example), "named, and empty")
	}
	text, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	require.NoError(t, err)
	for _, line := range regexp.MustCompile(`(?m)^.*(PASSWORD|KEY|TOKEN|SECRET)\w*: .*$`).FindAllString(string(text), -1) {
		require.Regexp(t, `: (\$\{\w+:\?set it in \.env\}|/run/secrets/\w+|\w+_PASSWORD)$`, line)
	}
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	require.NoError(t, err)
	require.Contains(t, string(ignored), "/.env\n")
}

func TestEveryImageIsPinned(t *testing.T) {
	for name, s := range project(t).Services {
		require.Regexp(t, `^[a-z0-9./-]+:v?\d+\.\d+(\.\d+)*$`, s.Image, name)
	}
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	require.NoError(t, err)
	from := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, from, 2)
	for _, f := range from {
		require.Regexp(t, `^[a-z0-9./-]+:\d+\.\d+`, f[1])
	}
	require.Regexp(t, `(?m)^USER [1-9]\d*:[1-9]\d*$`, string(text), "not root")
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(module))[1]
	require.Contains(t, string(text), "FROM golang:"+version+"-", "the version of go.mod")
}

func TestNothingIsPublishedBeyondThisMachine(t *testing.T) {
	published := 0
	for name, s := range project(t).Services {
		require.Empty(t, s.NetworkMode, name)
		for _, port := range s.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, name)
			published++
		}
	}
	require.Positive(t, published)
}

func TestEverythingThatIsMountedIsThere(t *testing.T) {
	p := project(t)
	mounted := map[string]string{}
	for name, s := range p.Services {
		require.NotNil(t, s.HealthCheck, name)
		require.NotEmpty(t, s.Restart, name)
		for _, v := range s.Volumes {
			if v.Type != types.VolumeTypeBind {
				require.Contains(t, p.Volumes, v.Source, name)
				continue
			}
			_, err := os.Stat(v.Source)
			require.NoError(t, err, name)
			require.True(t, v.ReadOnly, "%s: %s", name, v.Target)
			rel, err := filepath.Rel(p.WorkingDir, v.Source)
			require.NoError(t, err)
			mounted[v.Target] = rel
		}
		for _, secret := range s.Secrets {
			require.Contains(t, p.Secrets, secret.Source, name)
		}
	}
	require.Equal(t, map[string]string{
		"/etc/steptrail/steptrail.yaml":         "deploy/steptrail.yaml",
		"/etc/steptrail/policy.yaml":            "collector/policy/demo.yaml",
		"/etc/prometheus/prometheus.yml":        "deploy/prometheus.yml",
		"/etc/prometheus/steptrail.rules.yml":   "alerts/steptrail.rules.yml",
		"/etc/alertmanager/alertmanager.yml":    "alerts/alertmanager.example.yml",
		"/etc/grafana/provisioning/datasources": "deploy/grafana/datasources",
		"/etc/grafana/provisioning/dashboards":  "deploy/grafana/dashboards",
		"/var/lib/grafana/dashboards":           "dashboards",
	}, mounted, "the files of the project, no copies")
}

// What steptrail runs there passes what `steptrail validate` checks.
func TestTheConfigOfSteptrailIsValid(t *testing.T) {
	s := project(t).Services["steptrail"]
	require.Equal(t, types.ShellCommand{"serve", "--config", "builtin:all-in-one", "--config", "/etc/steptrail/steptrail.yaml"}, s.Command)
	for name, value := range s.Environment {
		require.NotNil(t, value, name)
		t.Setenv(name, *value)
	}
	t.Setenv("STEPTRAIL_POLICY_FILE", filepath.Join(root, "collector", "policy", "demo.yaml"))
	t.Setenv("STEPTRAIL_DATA_DIR", t.TempDir())
	set := collector.Settings("test")
	set.ConfigProviderSettings.ResolverSettings.URIs = []string{"builtin:all-in-one", "steptrail.yaml"}
	col, err := otelcol.NewCollector(set)
	require.NoError(t, err)
	require.NoError(t, col.DryRun(t.Context()))
}

// Prometheus asks the ports that steptrail listens on, and Grafana the servers
// that there are.
func TestTheServersKnowOneAnother(t *testing.T) {
	p := project(t)
	host := regexp.MustCompile(`^(?:http://)?([a-z]+):(\d+)$`)
	var prometheus struct {
		Alerting struct {
			Managers []targets `yaml:"alertmanagers"`
		} `yaml:"alerting"`
		Scrape []targets `yaml:"scrape_configs"`
	}
	parse(t, "prometheus.yml", &prometheus)
	var asked []string
	for _, s := range append(prometheus.Scrape, prometheus.Alerting.Managers...) {
		for _, c := range s.Static {
			asked = append(asked, c.Targets...)
		}
	}
	require.ElementsMatch(t, []string{"steptrail:8888", "steptrail:8686", "alertmanager:9093"}, asked)
	for _, target := range asked {
		require.Contains(t, p.Services, host.FindStringSubmatch(target)[1])
	}
	var grafana struct {
		Datasources []struct {
			URL  string `yaml:"url"`
			JSON struct {
				Host string `yaml:"host"`
			} `yaml:"jsonData"`
		} `yaml:"datasources"`
	}
	parse(t, "grafana/datasources/steptrail.yaml", &grafana)
	require.Len(t, grafana.Datasources, 2)
	require.Contains(t, p.Services, grafana.Datasources[0].JSON.Host)
	require.Contains(t, p.Services, host.FindStringSubmatch(grafana.Datasources[1].URL)[1])
}

type targets struct {
	Static []struct {
		Targets []string `yaml:"targets"`
	} `yaml:"static_configs"`
}

func parse(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into))
}
