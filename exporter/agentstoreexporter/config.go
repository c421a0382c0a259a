package agentstoreexporter

import (
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
)

// Config of the exporter. Defaults are those of createDefaultConfig.
type Config struct {
	// Storage is the agentstorage extension to write to.
	Storage component.ID `mapstructure:"storage"`
	// Timeout bounds one try to insert a batch.
	Timeout exporterhelper.TimeoutConfig `mapstructure:",squash"`
	// Queue holds what was acknowledged and not yet stored. Without a storage of
	// its own it is in memory and lost when the process is killed.
	Queue configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`
	// Retry says how often a failed insert is tried again.
	Retry configretry.BackOffConfig `mapstructure:"retry_on_failure"`
}

var _ confmap.Validator = (*Config)(nil)

// Validate reports every problem, each with its key.
func (c *Config) Validate() error {
	var errs []error
	if c.Storage == (component.ID{}) {
		errs = append(errs, errors.New("storage must name an agentstorage extension"))
	}
	if q := c.Queue.Get(); q != nil {
		if b := q.Batch.Get(); b != nil && b.Sizer != exporterhelper.RequestSizerTypeItems {
			errs = append(errs, errors.New("sending_queue::batch::sizer must be items: a batch is split between spans"))
		}
	}
	return errors.Join(errs...)
}
