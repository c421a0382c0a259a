package listenguard

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

func TestOpenReceiversAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		endpoint string
		refused  bool
	}{
		"a loopback address is taken":          {"127.0.0.1:4317", false},
		"another loopback address is taken":    {"127.8.8.8:4317", false},
		"the IPv6 loopback address is taken":   {"[::1]:4317", false},
		"localhost is taken":                   {"localhost:4317", false},
		"LOCALHOST is taken":                   {"LocalHost:4317", false},
		"every address is refused":             {"0.0.0.0:4317", true},
		"an empty host is every address":       {":4317", true},
		"every IPv6 address is refused":        {"[::]:4317", true},
		"a private address is refused":         {"10.0.0.7:4317", true},
		"a name is refused, it is not known":   {"collector.internal:4317", true},
		"a name that starts alike is refused":  {"localhost.example.org:4317", true},
		"an address without a port is checked": {"0.0.0.0", true},
	} {
		t.Run(name, func(t *testing.T) {
			err := convert(map[string]any{"grpc": map[string]any{"endpoint": tc.endpoint}}, nil)
			if !tc.refused {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "receivers::otlp/in::protocols::grpc::endpoint")
			require.ErrorContains(t, err, tc.endpoint)
		})
	}
}

func TestAllOpenReceiversAreNamedAtOnce(t *testing.T) {
	err := convert(map[string]any{
		"http": map[string]any{"endpoint": "0.0.0.0:4318"},
		"grpc": map[string]any{"endpoint": "0.0.0.0:4317"},
	}, nil)
	require.ErrorContains(t, err, "protocols::grpc")
	require.ErrorContains(t, err, "protocols::http")
}

func TestAuthenticationOpensAReceiver(t *testing.T) {
	require.NoError(t, convert(map[string]any{"grpc": map[string]any{
		"endpoint": "0.0.0.0:4317",
		"auth":     map[string]any{"authenticator": "agentauth"},
	}}, nil))
}

func TestUnixSocketsAreNotReachedFromOutside(t *testing.T) {
	require.NoError(t, convert(map[string]any{"grpc": map[string]any{"endpoint": "/run/otlp.sock", "transport": "unix"}}, nil))
}

func TestAnEndpointLeftOutIsLoopback(t *testing.T) {
	require.NoError(t, convert(map[string]any{"grpc": nil, "http": map[string]any{}}, nil))
}

func TestInsecureHasToBeSaid(t *testing.T) {
	open := map[string]any{"grpc": map[string]any{"endpoint": "0.0.0.0:4317"}}
	require.NoError(t, convert(open, map[string]any{"insecure": true}))
	require.Error(t, convert(open, map[string]any{"insecure": false}))
}

func convert(protocols, query map[string]any) error {
	conf := confmap.NewFromStringMap(map[string]any{
		"receivers":  map[string]any{"otlp/in": map[string]any{"protocols": protocols}, "nop": nil},
		"extensions": map[string]any{"agentquery": query},
	})
	return NewFactory().Create(confmap.ConverterSettings{}).Convert(context.Background(), conf)
}
