package config

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

func TestBuiltinNameIsTheEmbeddedFile(t *testing.T) {
	t.Setenv(tokensVariable, "")
	require.Equal(t, []string{"all-in-one"}, Names())
	retrieved, err := NewFactory().Create(confmap.ProviderSettings{}).Retrieve(t.Context(), AllInOne, nil)
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	require.True(t, conf.IsSet("service::pipelines::traces"))
	require.True(t, conf.IsSet("service::pipelines::logs"))
}

func TestUnknownBuiltinNamesTheKnownOnes(t *testing.T) {
	_, err := NewFactory().Create(confmap.ProviderSettings{}).Retrieve(t.Context(), "builtin:../secret", nil)
	require.EqualError(t, err, `no built-in config is called "../secret"; there are: all-in-one`)
}

func TestTokensThatNobodyChecksAreRefused(t *testing.T) {
	t.Setenv(tokensVariable, "tokens.yaml")
	_, err := NewFactory().Create(confmap.ProviderSettings{}).Retrieve(t.Context(), AllInOne, nil)
	require.ErrorContains(t, err, tokensVariable)
}

func TestBatchingIsLeftToTheExportersQueue(t *testing.T) {
	text, err := os.ReadFile("all-in-one.yaml")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		require.NotEqual(t, "  batch:", strings.TrimRight(line, " {}\n"), "batchprocessor acknowledges data before it is safe")
	}
}
