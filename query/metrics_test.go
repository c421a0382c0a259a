package query

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/meter/metertest"
)

func TestTheReadmeNamesEveryMetric(t *testing.T) {
	desc := regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: "([^"]+)",.*variableLabels: \{([^}]*)\}\}$`)
	table := "| metric | labels | meaning |\n|---|---|---|\n"
	for _, c := range describeMetrics().all() {
		descs := make(chan *prometheus.Desc, 1)
		c.Describe(descs)
		part := desc.FindStringSubmatch((<-descs).String())
		require.Len(t, part, 4)
		labels := ""
		if part[3] != "" {
			labels = "`" + strings.Join(strings.Split(part[3], ","), "` `") + "`"
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", part[1], labels, part[2])
	}
	metertest.Readme(t, table)
}
