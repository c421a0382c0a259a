package collector

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"
)

const (
	builtinScheme = "builtin"
	configSuffix  = ".yaml"

	// tokensVariable names the file of tokens. It must never be ignored: whoever sets it believes that the ports are
	// guarded.
	tokensVariable = "STEPTRAIL_TOKENS_FILE"
)

// AllInOne is the location of the config that `steptrail serve` runs when no --config is given.
const AllInOne = builtinScheme + ":all-in-one"

//go:embed config/*.yaml
var builtinConfigs embed.FS

// NewBuiltinProviderFactory returns the config provider for the scheme "builtin": builtin:NAME is the config NAME that
// this binary carries. So `--config builtin:all-in-one --config mine.yaml` changes the built-in config in the places
// that mine.yaml names.
func NewBuiltinProviderFactory() confmap.ProviderFactory {
	return confmap.NewProviderFactory(func(confmap.ProviderSettings) confmap.Provider { return builtinProvider{} })
}

type builtinProvider struct{}

var _ confmap.Provider = builtinProvider{}

// Retrieve returns the named config. An unknown name is an error that lists the known ones.
func (builtinProvider) Retrieve(_ context.Context, uri string, _ confmap.WatcherFunc) (*confmap.Retrieved, error) {
	name, ok := strings.CutPrefix(uri, builtinScheme+":")
	if !ok {
		return nil, fmt.Errorf("%q is not a location of the scheme %q", uri, builtinScheme)
	}
	names := BuiltinConfigs()
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("no built-in config is called %q; there are: %s", name, strings.Join(names, ", "))
	}
	if file := os.Getenv(tokensVariable); file != "" {
		return nil, fmt.Errorf("%s is set to %q, but this version cannot check tokens: unset it, and listen on loopback only", tokensVariable, file)
	}
	text, err := builtinConfigs.ReadFile("config/" + name + configSuffix)
	if err != nil {
		return nil, fmt.Errorf("read built-in config %q: %w", name, err)
	}
	return confmap.NewRetrievedFromYAML(text)
}

func (builtinProvider) Scheme() string { return builtinScheme }

func (builtinProvider) Shutdown(context.Context) error { return nil }

// BuiltinConfigs returns the names of the embedded configs, sorted.
func BuiltinConfigs() []string {
	entries, err := fs.ReadDir(builtinConfigs, "config")
	if err != nil {
		panic("BUG: the embedded folder config cannot be read: " + err.Error())
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), configSuffix))
	}
	return names
}
