package agentstepprocessor

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/steptrail/steptrail/internal/policyfile"
)

// Config is the configuration of the agentstep processor.
type Config struct {
	// PolicyFile is the path of the policy, or builtin:demo for the one that
	// ships with the product. Required: what is redacted and how long it is kept
	// is decided, not defaulted.
	PolicyFile string `mapstructure:"policy_file"`
	// DataDir is where the redaction key is made and kept, with the demo policy
	// and no key in the environment. Default ./steptrail-data.
	DataDir string `mapstructure:"data_dir"`
	// MaxOpenBytes bounds the memory of open runs. At the bound the runs that
	// were quiet longest are let go; the sweep judges them. Default 512 MiB.
	MaxOpenBytes int64 `mapstructure:"max_open_bytes"`
	// MaxOpenTime is how long a run that gets no spans is kept open. Default 15m.
	MaxOpenTime time.Duration `mapstructure:"max_open_time"`
	// MaxBodyBytes is the most that one message, argument or result keeps; the
	// rest is cut off and its size and hash are kept. Default 1 MiB.
	MaxBodyBytes int `mapstructure:"max_body_bytes"`
	// MaxAttributeBytes is the same for any other value. Default 64 KiB.
	MaxAttributeBytes int `mapstructure:"max_attribute_bytes"`
	// MaxAttributes is how many attributes a span, event, link, resource, scope
	// or log record keeps. Default 1024.
	MaxAttributes int `mapstructure:"max_attributes"`
	// MessageCacheBytes bounds the memory in which messages that come again, as
	// a conversation's history does with every call, are remembered, per
	// processor thread. 0 remembers none. Default 16 MiB.
	MessageCacheBytes int `mapstructure:"message_cache_bytes"`
}

var _ component.Config = (*Config)(nil)

// Validate reports every problem of the config at once. The policy itself is
// read when the component is created.
func (c *Config) Validate() error {
	var errs []error
	if c.PolicyFile == "" {
		errs = append(errs, fmt.Errorf("policy_file must be set: a path, or %s for the policy shipped with the product", policyfile.Demo))
	}
	for _, limit := range []struct {
		key   string
		value int64
		least int64
	}{
		{"max_open_bytes", c.MaxOpenBytes, 1 << 20},
		{"max_body_bytes", int64(c.MaxBodyBytes), 1 << 10},
		{"max_attribute_bytes", int64(c.MaxAttributeBytes), 1 << 8},
		{"max_attributes", int64(c.MaxAttributes), 64},
		{"message_cache_bytes", int64(c.MessageCacheBytes), 0},
	} {
		if limit.value < limit.least {
			errs = append(errs, fmt.Errorf("%s must be at least %d, is %d", limit.key, limit.least, limit.value))
		}
	}
	if c.MaxOpenTime < time.Minute {
		errs = append(errs, fmt.Errorf("max_open_time must be at least 1m, is %s", c.MaxOpenTime))
	}
	return errors.Join(errs...)
}
