package collector

import (
	"maps"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/confmap/provider/httpprovider"
	"go.opentelemetry.io/collector/confmap/provider/httpsprovider"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/otelcol"

	"github.com/steptrail/steptrail/collector/config"
	"github.com/steptrail/steptrail/collector/listenguard"
)

// Settings returns what otelcol needs to run this distribution: components, config providers (env, file, http, https,
// yaml and our builtin) and the listen guard. No config location is set; the caller chooses one.
func Settings(version string) otelcol.CollectorSettings {
	modules := linkedModules()
	providerModules := map[string]string{"builtin": moduleRef(ourModule+"/collector", modules)}
	maps.Copy(providerModules, upstreamProviderModules(modules))
	return otelcol.CollectorSettings{
		Factories: Factories,
		BuildInfo: component.BuildInfo{
			Command:     "steptrail",
			Description: "Steptrail, an OpenTelemetry collector for AI agents",
			Version:     version,
		},
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				DefaultScheme: "env",
				ProviderFactories: []confmap.ProviderFactory{
					envprovider.NewFactory(),
					fileprovider.NewFactory(),
					httpprovider.NewFactory(),
					httpsprovider.NewFactory(),
					yamlprovider.NewFactory(),
					config.NewFactory(),
				},
				ConverterFactories: []confmap.ConverterFactory{listenguard.NewFactory()},
			},
		},
		ProviderModules:  providerModules,
		ConverterModules: []string{moduleRef(ourModule+"/collector", modules)},
	}
}

// ourModule is the module path of this project.
const ourModule = "github.com/steptrail/steptrail"

func upstreamProviderModules(modules map[string]string) map[string]string {
	refs := make(map[string]string)
	for _, scheme := range []string{"env", "file", "http", "https", "yaml"} {
		refs[scheme] = moduleRef(core+"confmap/provider/"+scheme+"provider", modules)
	}
	return refs
}
