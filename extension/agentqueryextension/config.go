package agentqueryextension

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

// Config of the extension. Defaults are those of createDefaultConfig.
type Config struct {
	// Endpoint is the address to listen on, host:port.
	Endpoint string `mapstructure:"endpoint"`
	// Storage is the agentstorage extension that is asked.
	Storage component.ID `mapstructure:"storage"`
	// PolicyFile is the policy whose times decide when a run is quiet or
	// stalled, and whose redaction spells what is asked for as it is stored: a
	// path, or builtin:demo.
	PolicyFile string `mapstructure:"policy_file"`
	// DataDir is where the redaction key is made and kept, with the demo policy
	// and no key in the environment: that of the agentstep processor.
	DataDir string `mapstructure:"data_dir"`
	// Insecure allows to listen beyond loopback although anybody who reaches
	// the endpoint may then read everything.
	Insecure bool `mapstructure:"insecure"`
	// AllowedHosts are the names under which the server may be addressed (Host
	// header, without port), beside loopback names on a loopback endpoint. Empty:
	// only those on a loopback endpoint, any name elsewhere. "*" is any name.
	AllowedHosts []string `mapstructure:"allowed_hosts"`
	// RequestTimeout bounds a request that is answered at once.
	RequestTimeout time.Duration `mapstructure:"request_timeout"`
	// HistoryTimeout bounds a run's history, which is streamed.
	HistoryTimeout time.Duration `mapstructure:"history_timeout"`
	// MaxRequests is how many requests are answered at once; others wait.
	MaxRequests int `mapstructure:"max_requests"`
}

var _ confmap.Validator = (*Config)(nil)

// Validate reports every problem, each with its key.
func (c *Config) Validate() error {
	var errs []error
	if err := checkEndpoint(c.Endpoint); err != nil {
		errs = append(errs, fmt.Errorf("endpoint %w", err))
	} else if !isLoopback(c.Endpoint) && !c.Insecure {
		errs = append(errs, errBeyondLoopback(c.Endpoint))
	}
	if c.Storage == (component.ID{}) {
		errs = append(errs, errors.New("storage must name an agentstorage extension"))
	}
	if c.PolicyFile == "" {
		errs = append(errs, errors.New("policy_file must be set: a path, or builtin:demo"))
	}
	for i, h := range c.AllowedHosts {
		if h == "" || strings.ContainsAny(h, "/ ") {
			errs = append(errs, fmt.Errorf("allowed_hosts[%d] is %q, must be a host name or address without scheme and port", i, h))
		}
	}
	if c.RequestTimeout < time.Second {
		errs = append(errs, fmt.Errorf("request_timeout is %s, must be at least 1s", c.RequestTimeout))
	}
	if c.HistoryTimeout < c.RequestTimeout {
		errs = append(errs, fmt.Errorf("history_timeout is %s, must be at least request_timeout, %s", c.HistoryTimeout, c.RequestTimeout))
	}
	if c.MaxRequests < 1 {
		errs = append(errs, fmt.Errorf("max_requests is %d, must be at least 1", c.MaxRequests))
	}
	return errors.Join(errs...)
}

func errBeyondLoopback(endpoint string) error {
	return fmt.Errorf("endpoint %s lies beyond loopback, where anybody who reaches it could read every run: "+
		"listen on 127.0.0.1 behind a proxy that asks who is there, or set insecure: true", endpoint)
}

func checkEndpoint(endpoint string) error {
	_, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return fmt.Errorf("is %q, must be host:port", endpoint)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("is %q, its port must be a number from 0 to 65535", endpoint)
	}
	return nil
}

// isLoopback reports whether an endpoint, or a Host header, names this machine
// only. Names are not looked up: localhost and what ends with .localhost are
// loopback by RFC 6761, any other name may point anywhere.
func isLoopback(endpoint string) bool {
	host := hostOf(endpoint)
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// hostOf gives the host of host:port, [v6]:port, or a host alone.
func hostOf(s string) string {
	if host, _, err := net.SplitHostPort(s); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
}

// hostAllowed gives the check of Host headers, nil where any name is allowed.
func (c *Config) hostAllowed() func(string) bool {
	loopback := isLoopback(c.Endpoint)
	names := map[string]bool{}
	for _, h := range c.AllowedHosts {
		if h == "*" {
			return nil
		}
		names[strings.ToLower(hostOf(h))] = true
	}
	if !loopback && len(names) == 0 {
		return nil
	}
	return func(host string) bool {
		return loopback && isLoopback(host) || names[strings.ToLower(hostOf(host))]
	}
}
