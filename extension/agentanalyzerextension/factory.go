package agentanalyzerextension

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
)

// Type names the extension in a collector's configuration.
var Type = component.MustNewType("agentanalyzer")

// NewFactory makes the factory of the extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(Type, createDefaultConfig, create, component.StabilityLevelAlpha)
}

func createDefaultConfig() component.Config {
	return &Config{
		Storage:  component.MustNewID("agentstorage"),
		Interval: time.Second,
		Overlap:  time.Minute,
		Timeout:  5 * time.Minute,
	}
}

func create(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	return newAnalyzer(set, cfg.(*Config)) //nolint:forcetypeassert // the collector passes what createDefaultConfig made
}
