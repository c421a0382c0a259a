package collector

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.yaml.in/yaml/v3"
)

// builderConfig is what the test reads of builder.yaml.
type builderConfig struct {
	Receivers  []builderModule
	Processors []builderModule
	Exporters  []builderModule
	Extensions []builderModule
	Providers  []builderModule
	Converters []builderModule
	Telemetry  builderModule
}

type builderModule struct {
	GoMod  string `yaml:"gomod"`
	Import string `yaml:"import"`
}

// pkg returns the package that the entry names.
func (m builderModule) pkg() string {
	if m.Import != "" {
		return m.Import
	}
	module, _, _ := strings.Cut(m.GoMod, " ")
	return module
}

func readBuilderConfig(t *testing.T) builderConfig {
	t.Helper()
	text, err := os.ReadFile("builder.yaml")
	require.NoError(t, err)
	var cfg builderConfig
	require.NoError(t, yaml.Unmarshal(text, &cfg))
	return cfg
}

func TestBuilderListsTheComponentsOfTheDistribution(t *testing.T) {
	cfg := readBuilderConfig(t)
	for _, kind := range []struct {
		name string
		ours []string
		ocb  []builderModule
	}{
		{"receivers", packagesOf(receivers()), cfg.Receivers},
		{"processors", packagesOf(processors()), cfg.Processors},
		{"exporters", packagesOf(exporters()), cfg.Exporters},
		{"extensions", packagesOf(extensions()), cfg.Extensions},
	} {
		t.Run(kind.name, func(t *testing.T) {
			listed := make([]string, 0, len(kind.ocb))
			for _, module := range kind.ocb {
				listed = append(listed, module.pkg())
			}
			require.Equal(t, kind.ours, listed)
		})
	}
}

func TestBuilderListsEveryConfigProvider(t *testing.T) {
	var listed []string
	for _, module := range readBuilderConfig(t).Providers {
		listed = append(listed, module.pkg())
	}
	require.Len(t, listed, len(Settings("test").ConfigProviderSettings.ResolverSettings.ProviderFactories))
	for scheme := range upstreamProviderModules(nil) {
		require.Contains(t, listed, core+"confmap/provider/"+scheme+"provider")
	}
}

func TestBuilderNamesTheVersionsOfGoMod(t *testing.T) {
	versions := goModVersions(t)
	cfg := readBuilderConfig(t)
	all := slices.Concat(cfg.Receivers, cfg.Processors, cfg.Exporters, cfg.Extensions, cfg.Providers, cfg.Converters,
		[]builderModule{cfg.Telemetry})
	for _, module := range all {
		path, version, _ := strings.Cut(module.GoMod, " ")
		if path == ourModule {
			continue // replaced by this folder
		}
		require.Equal(t, versions[path], version, path)
	}
}

func packagesOf[F component.Factory](list []entry[F]) []string {
	packages := make([]string, 0, len(list))
	for _, e := range list {
		packages = append(packages, e.pkg)
	}
	return packages
}

// goModVersions reads the required versions from go.mod.
func goModVersions(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	versions := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) > 0 && fields[0] == "require" {
			fields = fields[1:]
		}
		if len(fields) >= 2 && strings.HasPrefix(fields[1], "v") {
			versions[fields[0]] = fields[1]
		}
	}
	return versions
}
