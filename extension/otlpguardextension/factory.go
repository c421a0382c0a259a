package otlpguardextension

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
)

// Type names the extension in a collector's configuration.
var Type = component.MustNewType("otlpguard")

// Config has no options: the limit is the receiver's max_request_body_size.
type Config struct {
	_ byte // configs of no size would share one address
}

// NewFactory makes the factory of the extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(Type, func() component.Config { return &Config{} }, create, component.StabilityLevelAlpha)
}

func create(_ context.Context, set extension.Settings, _ component.Config) (extension.Extension, error) {
	return newGuard(set) //nolint:contextcheck // counters start at zero, for no request
}
