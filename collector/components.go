package collector

import (
	"runtime/debug"
	"strings"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/healthcheckextension"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/exporter/nopexporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/nopreceiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"

	"github.com/steptrail/steptrail/exporter/agentstoreexporter"
	"github.com/steptrail/steptrail/extension/agentanalyzerextension"
	"github.com/steptrail/steptrail/extension/agentqueryextension"
	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/extension/filestorageextension"
	"github.com/steptrail/steptrail/extension/otlpguardextension"
	"github.com/steptrail/steptrail/processor/agentstepprocessor"
)

const (
	ours    = ourModule + "/"
	core    = "go.opentelemetry.io/collector/"
	contrib = "github.com/open-telemetry/opentelemetry-collector-contrib/"
)

// entry is one component of the distribution: its factory, and the package it comes from, which tells its module and
// version in the output of `steptrail components`.
type entry[F component.Factory] struct {
	pkg     string
	factory F
}

// The four lists below are all that this distribution holds. batchprocessor is left out on purpose: it acknowledges
// data before it is safe; the exporters batch in their sending_queue.

func receivers() []entry[receiver.Factory] {
	return []entry[receiver.Factory]{
		{core + "receiver/otlpreceiver", otlpreceiver.NewFactory()},
		{core + "receiver/nopreceiver", nopreceiver.NewFactory()},
	}
}

func processors() []entry[processor.Factory] {
	return []entry[processor.Factory]{
		{ours + "processor/agentstepprocessor", agentstepprocessor.NewFactory()},
		{core + "processor/memorylimiterprocessor", memorylimiterprocessor.NewFactory()},
	}
}

func exporters() []entry[exporter.Factory] {
	return []entry[exporter.Factory]{
		{ours + "exporter/agentstoreexporter", agentstoreexporter.NewFactory()},
		{core + "exporter/otlpexporter", otlpexporter.NewFactory()},
		{core + "exporter/otlphttpexporter", otlphttpexporter.NewFactory()},
		{core + "exporter/debugexporter", debugexporter.NewFactory()},
		{core + "exporter/nopexporter", nopexporter.NewFactory()},
	}
}

func extensions() []entry[extension.Factory] {
	return []entry[extension.Factory]{
		{ours + "extension/agentstorageextension", agentstorageextension.NewFactory()},
		{ours + "extension/agentanalyzerextension", agentanalyzerextension.NewFactory()},
		{ours + "extension/agentqueryextension", agentqueryextension.NewFactory()},
		{ours + "extension/filestorageextension", filestorageextension.NewFactory()},
		{ours + "extension/otlpguardextension", otlpguardextension.NewFactory()},
		{contrib + "extension/healthcheckextension", healthcheckextension.NewFactory()},
	}
}

// Factories returns the components of the distribution, with the module and version that each was built from.
// It fails only if two components claim one type name.
func Factories() (otelcol.Factories, error) {
	f := otelcol.Factories{Telemetry: nativeLatencies{otelconftelemetry.NewFactory()}}
	modules := linkedModules()
	var err error
	if f.Receivers, f.ReceiverModules, err = index(receivers(), modules); err != nil {
		return otelcol.Factories{}, err
	}
	if f.Processors, f.ProcessorModules, err = index(processors(), modules); err != nil {
		return otelcol.Factories{}, err
	}
	if f.Exporters, f.ExporterModules, err = index(exporters(), modules); err != nil {
		return otelcol.Factories{}, err
	}
	if f.Extensions, f.ExtensionModules, err = index(extensions(), modules); err != nil {
		return otelcol.Factories{}, err
	}
	return f, nil
}

// index turns a list into the two maps that otelcol asks for: factories and modules by type.
func index[F component.Factory](list []entry[F], modules map[string]string) (map[component.Type]F, map[component.Type]string, error) {
	factories := make([]F, 0, len(list))
	byFactory := make(map[component.Type]string, len(list))
	for _, e := range list {
		factories = append(factories, e.factory)
		byFactory[e.factory.Type()] = moduleRef(e.pkg, modules)
	}
	byType, err := otelcol.MakeFactoryMap(factories...)
	if err != nil {
		return nil, nil, err
	}
	refs := make(map[component.Type]string, len(byType))
	for typ, factory := range byType { // typ may be a deprecated alias of the factory's type
		refs[typ] = byFactory[factory.Type()]
	}
	return byType, refs, nil
}

// linkedModules returns the versions of all modules in this binary, by module path. It is empty where the binary
// carries no build information.
func linkedModules() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	versions := make(map[string]string, len(info.Deps)+1)
	versions[info.Main.Path] = info.Main.Version
	for _, dep := range info.Deps {
		versions[dep.Path] = dep.Version
	}
	return versions
}

// moduleRef returns "module version" of the module that holds pkg: the longest module path that is pkg or a folder
// above it. Without build information it returns pkg alone.
func moduleRef(pkg string, modules map[string]string) string {
	for path := pkg; ; {
		if version, ok := modules[path]; ok {
			return strings.TrimSpace(path + " " + version)
		}
		cut := strings.LastIndexByte(path, '/')
		if cut < 0 {
			return pkg
		}
		path = path[:cut]
	}
}
