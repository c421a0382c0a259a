package contracttest_test

import (
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"

	"github.com/steptrail/steptrail/internal/contracttest"
)

// The upstream components hold the contract; if one of these fails, the helper asks for something that is not in it.

func TestUpstreamProcessorHoldsTheContract(t *testing.T) {
	contracttest.Processor(t, memorylimiterprocessor.NewFactory(), contracttest.Options{
		Type:           "memory_limiter",
		DefaultInvalid: "check_interval",
		Config: func(_ testing.TB, cfg component.Config) {
			limiter := cfg.(*memorylimiterprocessor.Config)
			limiter.CheckInterval = 1e9
			limiter.MemoryLimitMiB = 4000
		},
	})
}

func TestUpstreamExporterHoldsTheContract(t *testing.T) {
	contracttest.Exporter(t, debugexporter.NewFactory(), contracttest.Options{Type: "debug"})
}

func TestUpstreamExtensionHoldsTheContract(t *testing.T) {
	contracttest.Extension(t, filestorage.NewFactory(), contracttest.Options{
		Type:           "file_storage",
		DefaultInvalid: "directory must exist",
		Config: func(t testing.TB, cfg component.Config) {
			storage := cfg.(*filestorage.Config)
			storage.Directory = t.TempDir()
			storage.Compaction.Directory = storage.Directory
		},
	})
}
