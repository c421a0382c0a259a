package agentstorageextension

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/extension"

	"github.com/steptrail/steptrail/internal/engine"
	"github.com/steptrail/steptrail/internal/store"
)

// Type names the extension in a collector's configuration.
var Type = component.MustNewType("agentstorage")

// NewFactory makes the factory of the extension.
func NewFactory() extension.Factory { return newFactory(engine.Start) }

// startEngine starts the embedded engine.
type startEngine func(context.Context, engine.Config) (*engine.Engine, error)

func newFactory(start startEngine) extension.Factory {
	create := func(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
		return newStorage(set, cfg.(*Config), start) //nolint:forcetypeassert // the collector passes what createDefaultConfig made
	}
	return extension.NewFactory(Type, createDefaultConfig, create, component.StabilityLevelAlpha)
}

func createDefaultConfig() component.Config {
	return &Config{
		DSN:      configopaque.String(Embedded),
		DataDir:  "./steptrail-data",
		Database: store.DefaultDatabase,
		Migrate:  true,
		Engine:   EngineConfig{MaxMemoryMiB: engine.DefaultMaxMemory >> 20, MaxConcurrent: 16},
	}
}
