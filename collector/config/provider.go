// Package config carries the built-in configs of the distribution and the config provider that finds them:
// builtin:NAME is the text of NAME.yaml in this folder. It knows nothing of what the configs say.
//
//	--config builtin:all-in-one → NewFactory → all-in-one.yaml → otelcol's resolver (variables, merging, --set)
package config

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
	scheme = "builtin"
	suffix = ".yaml"

	// tokensVariable names the file of tokens. It must never be ignored: whoever sets it believes that the ports are
	// guarded.
	tokensVariable = "STEPTRAIL_TOKENS_FILE"
)

// AllInOne is the location of the config that `steptrail serve` runs when no --config is given.
const AllInOne = scheme + ":all-in-one"

//go:embed *.yaml
var files embed.FS

// NewFactory returns the config provider for the scheme "builtin": builtin:NAME is the config NAME that
// this binary carries. So `--config builtin:all-in-one --config mine.yaml` changes the built-in config in the places
// that mine.yaml names.
func NewFactory() confmap.ProviderFactory {
	return confmap.NewProviderFactory(func(confmap.ProviderSettings) confmap.Provider { return provider{} })
}

type provider struct{}

var _ confmap.Provider = provider{}

// Retrieve returns the named config. An unknown name is an error that lists the known ones.
func (provider) Retrieve(_ context.Context, uri string, _ confmap.WatcherFunc) (*confmap.Retrieved, error) {
	name, ok := strings.CutPrefix(uri, scheme+":")
	if !ok {
		return nil, fmt.Errorf("%q is not a location of the scheme %q", uri, scheme)
	}
	names := Names()
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("no built-in config is called %q; there are: %s", name, strings.Join(names, ", "))
	}
	if file := os.Getenv(tokensVariable); file != "" {
		return nil, fmt.Errorf("%s is set to %q, but this version cannot check tokens: unset it, and listen on loopback only", tokensVariable, file)
	}
	text, err := files.ReadFile(name + suffix)
	if err != nil {
		return nil, fmt.Errorf("read built-in config %q: %w", name, err)
	}
	return confmap.NewRetrievedFromYAML(text)
}

func (provider) Scheme() string { return scheme }

func (provider) Shutdown(context.Context) error { return nil }

// Names returns the names of the embedded configs, sorted.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic("BUG: the embedded configs cannot be read: " + err.Error())
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	return names
}
