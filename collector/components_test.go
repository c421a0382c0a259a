package collector

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
)

func TestEveryComponentNamesItsModule(t *testing.T) {
	factories, err := Factories()
	require.NoError(t, err)
	require.NotNil(t, factories.Telemetry)
	for kind, modules := range map[string]map[component.Type]string{
		"receivers":  factories.ReceiverModules,
		"processors": factories.ProcessorModules,
		"exporters":  factories.ExporterModules,
		"extensions": factories.ExtensionModules,
	} {
		require.NotEmpty(t, modules, kind)
		for typ, module := range modules {
			require.NotEmpty(t, module, "%s %s", kind, typ)
		}
	}
	require.Equal(t, factories.ExporterModules[component.MustNewType("otlp_grpc")],
		factories.ExporterModules[component.MustNewType("otlp")], "an alias has the module of its component")
}

func TestBatchProcessorIsNotInTheDistribution(t *testing.T) {
	factories, err := Factories()
	require.NoError(t, err)
	require.NotContains(t, factories.Processors, component.MustNewType("batch"))
}

func TestModuleOfAPackageIsTheNearestModuleAboveIt(t *testing.T) {
	modules := map[string]string{
		"example.org/a":   "v1.0.0",
		"example.org/a/b": "v2.0.0",
		"example.org/new": "",
	}
	for name, tc := range map[string]struct{ pkg, want string }{
		"a module's own package":        {"example.org/a", "example.org/a v1.0.0"},
		"a package in a module":         {"example.org/a/x/y", "example.org/a v1.0.0"},
		"a package in a nested module":  {"example.org/a/b/c", "example.org/a/b v2.0.0"},
		"a name that only starts alike": {"example.org/a/bc", "example.org/a v1.0.0"},
		"a module without a version":    {"example.org/new/x", "example.org/new"},
		"a package of no linked module": {"example.org/other", "example.org/other"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, moduleRef(tc.pkg, modules))
		})
	}
}
