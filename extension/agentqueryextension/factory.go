package agentqueryextension

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
)

// Type names the extension in a collector's configuration.
var Type = component.MustNewType("agentquery")

// NewFactory makes the factory of the extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(Type, createDefaultConfig, create, component.StabilityLevelAlpha)
}

func createDefaultConfig() component.Config {
	return &Config{
		Endpoint:       "127.0.0.1:8686",
		Storage:        component.MustNewID("agentstorage"),
		DataDir:        "./steptrail-data",
		RequestTimeout: 30 * time.Second,
		HistoryTimeout: 10 * time.Minute,
		MaxRequests:    32,
	}
}

func create(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	return newServer(set, cfg.(*Config)) //nolint:forcetypeassert // the collector passes what createDefaultConfig made
}
