package agentanalyzerextension

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

// Config of the extension. Defaults are those of createDefaultConfig.
type Config struct {
	// Storage is the agentstorage extension whose history is judged.
	Storage component.ID `mapstructure:"storage"`
	// PolicyFile is the policy to judge by: a path, or builtin:demo.
	PolicyFile string `mapstructure:"policy_file"`
	// Interval is how often the sweep looks for changes.
	Interval time.Duration `mapstructure:"interval"`
	// Overlap is how long an insert may take until it can be read.
	Overlap time.Duration `mapstructure:"overlap"`
	// Timeout bounds one sweep; what it did not reach is left to the next.
	Timeout time.Duration `mapstructure:"timeout"`
}

var _ confmap.Validator = (*Config)(nil)

const (
	minInterval = 100 * time.Millisecond
	maxInterval = time.Minute
	maxOverlap  = time.Hour
)

// Validate reports every problem, each with its key.
func (c *Config) Validate() error {
	var errs []error
	if c.Storage == (component.ID{}) {
		errs = append(errs, errors.New("storage must name an agentstorage extension"))
	}
	if c.PolicyFile == "" {
		errs = append(errs, errors.New("policy_file must be set: a path, or builtin:demo"))
	}
	if c.Interval < minInterval || c.Interval > maxInterval {
		errs = append(errs, fmt.Errorf("interval is %s, must lie between %s and %s", c.Interval, minInterval, maxInterval))
	}
	if c.Overlap < time.Second || c.Overlap > maxOverlap {
		errs = append(errs, fmt.Errorf("overlap is %s, must lie between 1s and %s", c.Overlap, maxOverlap))
	}
	if c.Timeout < c.Interval {
		errs = append(errs, fmt.Errorf("timeout is %s, must be at least interval, %s", c.Timeout, c.Interval))
	}
	return errors.Join(errs...)
}
