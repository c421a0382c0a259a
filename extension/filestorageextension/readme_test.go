package filestorageextension

import (
	"testing"

	"github.com/steptrail/steptrail/internal/meter"
	"github.com/steptrail/steptrail/internal/meter/metertest"
)

func TestTheReadmeNamesEveryMetric(t *testing.T) { metertest.Readme(t, meter.Table(described)) }
