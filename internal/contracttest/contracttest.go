// Package contracttest checks a component of ours against the contract that otelcol has with every component. It runs
// what mdatagen, the collector's generator, would write into generated_component_test.go (collector v0.165.0), and a
// little more, from one place. It knows factories, configs and signals, and nothing of what a component does.
//
//	factory → its type → default config: keys, validity, loading → per signal and twice: create, start, consume, shut down
package contracttest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
)

// rounds is how often each component is created, started and shut down. Twice shows what a first life left behind: a
// port, a lock, a metric registered for good.
const rounds = 2

// Options tell what the contract cannot know of a component.
type Options struct {
	// Type is the name that the component has in a config file.
	Type string
	// Config sets, in a default config, what the component cannot run without. It is called once per component that is
	// created. Nil: the default config is enough.
	Config func(t testing.TB, cfg component.Config)
	// Host returns the host of one component's life. Nil: a host without extensions.
	Host func(t testing.TB) component.Host
	// DefaultInvalid is a part of the error with which Validate must refuse the default config, such as the key that has
	// to be stated. Empty: the default config must be valid.
	DefaultInvalid string
}

func (o Options) host(t testing.TB) component.Host {
	if o.Host == nil {
		return nopHost{}
	}
	return o.Host(t)
}

// config returns a fresh config that the component can run with.
func (o Options) config(t testing.TB, factory component.Factory) component.Config {
	cfg := factory.CreateDefaultConfig()
	if o.Config != nil {
		o.Config(t, cfg)
	}
	require.NoError(t, confmap.Validate(cfg), "the config that the test runs with")
	return cfg
}

// nopHost offers nothing, as componenttest.NewNopHost, and is comparable.
type nopHost struct{}

var _ component.Host = nopHost{}

func (nopHost) GetExtensions() map[component.ID]component.Component { return nil }

// checkFactory runs the part that all kinds of components share: type and config.
func checkFactory(t *testing.T, factory component.Factory, opts Options) {
	t.Helper()
	t.Run("the factory has the type it is configured by", func(t *testing.T) {
		require.Equal(t, component.MustNewType(opts.Type), factory.Type())
	})
	t.Run("every config field has a well-formed key", func(t *testing.T) {
		require.NoError(t, componenttest.CheckConfigStruct(factory.CreateDefaultConfig()))
	})
	t.Run("each default config is a value of its own", func(t *testing.T) {
		first, second := factory.CreateDefaultConfig(), factory.CreateDefaultConfig()
		require.Equal(t, first, second)
		require.NotSame(t, first, second)
	})
	t.Run("the default config is valid, or refused as declared", func(t *testing.T) {
		err := confmap.Validate(factory.CreateDefaultConfig())
		if opts.DefaultInvalid == "" {
			require.NoError(t, err)
			return
		}
		require.ErrorContains(t, err, opts.DefaultInvalid)
	})
	t.Run("an empty section loads as the default config", func(t *testing.T) {
		cfg := factory.CreateDefaultConfig()
		require.NoError(t, confmap.New().Unmarshal(cfg))
		require.Equal(t, factory.CreateDefaultConfig(), cfg)
	})
	t.Run("a key that does not exist is refused", func(t *testing.T) {
		conf := confmap.NewFromStringMap(map[string]any{"no_such_key": true})
		require.ErrorContains(t, conf.Unmarshal(factory.CreateDefaultConfig()), "no_such_key")
	})
	t.Run("the config can be printed", func(t *testing.T) {
		require.NoError(t, confmap.New().Marshal(opts.config(t, factory)))
	})
}
