package filestorageextension

import (
	"context"
	"fmt"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// NewFactory makes the factory of the extension: type and options are those of
// upstream. Only the default of cleanup_on_start differs: what a kill left of a
// file that was being written anew holds live entries.
func NewFactory() extension.Factory {
	upstream := filestorage.NewFactory()
	create := func(ctx context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
		made, err := upstream.Create(ctx, set, cfg)
		if err != nil {
			return nil, err
		}
		inner, ok := made.(storage.Extension)
		if !ok {
			return nil, fmt.Errorf("BUG: upstream's %s is no storage", upstream.Type())
		}
		return newFiles(set, inner, cfg.(*filestorage.Config)) //nolint:forcetypeassert // upstream has read it as one
	}
	defaults := func() component.Config {
		cfg := upstream.CreateDefaultConfig()
		cfg.(*filestorage.Config).Compaction.CleanupOnStart = true //nolint:forcetypeassert // upstream makes it as one
		return cfg
	}
	return extension.NewFactory(upstream.Type(), defaults, create, upstream.Stability())
}
