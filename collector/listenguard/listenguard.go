// Package listenguard refuses configs that would let any machine write an agent's history. It knows the config keys of
// the otlp receiver, and nothing of what runs.
//
//	resolved config → every otlp endpoint: loopback, authenticated, or declared insecure → otherwise an error
package listenguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"
)

// NewFactory returns a config converter that changes nothing and refuses a resolved config in which an OTLP
// receiver listens beyond loopback without authentication. Whoever reaches such a port can write an agent's history.
// `extensions::agentquery::insecure: true` says that this is meant (a private network, a proxy in front). The query API
// checks its own endpoint under the same key.
func NewFactory() confmap.ConverterFactory {
	return confmap.NewConverterFactory(func(confmap.ConverterSettings) confmap.Converter { return guard{} })
}

type guard struct{}

var _ confmap.Converter = guard{}

// Convert reports every open endpoint at once, in the order of their names, each with its config key.
func (guard) Convert(_ context.Context, conf *confmap.Conf) error {
	if insecure, _ := conf.Get("extensions::agentquery::insecure").(bool); insecure {
		return nil
	}
	receivers, _ := conf.Get("receivers").(map[string]any)
	var problems []error
	for name, body := range receivers {
		if kind, _, _ := strings.Cut(name, "/"); kind != "otlp" {
			continue
		}
		settings, _ := body.(map[string]any)
		protocols, _ := settings["protocols"].(map[string]any)
		for protocol, body := range protocols {
			server, _ := body.(map[string]any)
			if err := checkListener(server); err != nil {
				problems = append(problems, fmt.Errorf("receivers::%s::protocols::%s::endpoint: %w", name, protocol, err))
			}
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// checkListener returns an error if the server would take data from other machines without asking who sends it.
// An endpoint left out is upstream's default, which is loopback.
func checkListener(server map[string]any) error {
	endpoint, _ := server["endpoint"].(string)
	if endpoint == "" || server["auth"] != nil || server["transport"] == "unix" || isLoopback(endpoint) {
		return nil
	}
	return fmt.Errorf("%q can be reached from other machines and asks nobody for a token: listen on 127.0.0.1, set auth, "+
		"or say that it is meant with extensions::agentquery::insecure: true (STEPTRAIL_INSECURE=true in the built-in config)", endpoint)
}

// isLoopback tells whether endpoint (host:port) can only be reached from this machine. A host name other than localhost
// is not resolved: what it means may change.
func isLoopback(endpoint string) bool {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		host = endpoint
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
