package contracttest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"
)

// Extension checks an extension's factory, a shutdown without a start, and two whole lives.
func Extension(t *testing.T, factory extension.Factory, opts Options) {
	t.Helper()
	checkFactory(t, factory, opts)
	t.Run("it states how stable it is", func(t *testing.T) {
		require.True(t, supports(factory.Stability()))
	})
	settings := extensiontest.NewNopSettings(factory.Type())
	t.Run("it can be shut down without a start", func(t *testing.T) {
		ext, err := factory.Create(t.Context(), settings, opts.config(t, factory))
		require.NoError(t, err)
		require.NoError(t, ext.Shutdown(t.Context()))
	})
	for round := range rounds {
		t.Run(fmt.Sprintf("it starts and shuts down, life %d", round+1), func(t *testing.T) {
			ext, err := factory.Create(t.Context(), settings, opts.config(t, factory))
			require.NoError(t, err)
			require.NoError(t, ext.Start(t.Context(), opts.host(t)))
			require.NoError(t, ext.Shutdown(t.Context()))
		})
	}
}
