package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/store/storeseed"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestTheCommittedDashboardsAreThoseOfTheCode(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	made := t.TempDir()
	require.NoError(t, run([]string{made}))
	for _, d := range all() {
		want, err := os.ReadFile(filepath.Join(made, d.uid+".json"))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("..", d.uid+".json"))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "run make generate")
		var board dashboard.Dashboard //nolint:staticcheck // the plugin's format; see build
		// The SDK gives an empty list of problems where there is none.
		var problems cog.BuildErrors
		if err := board.UnmarshalJSONStrict(got); err != nil {
			require.ErrorAs(t, err, &problems, d.uid)
		}
		require.Empty(t, problems, d.uid)
		require.NoError(t, board.Validate(), d.uid)
		require.Len(t, board.Panels, len(d.panels))
	}
	files, err := filepath.Glob("../*.json")
	require.NoError(t, err)
	require.Len(t, files, len(all()), "a dashboard that no code makes")
}

func TestEveryPanelSaysWhatToDo(t *testing.T) {
	units := map[string]bool{share: true, usd: true, millis: true, seconds: true, plain: true, persec: true, inBytes: true}
	uids := map[string]bool{}
	for _, d := range all() {
		uids[d.uid] = true
	}
	for _, d := range all() {
		require.NotEmpty(t, d.text)
		linked := false
		for _, p := range d.panels {
			name := d.uid + " / " + p.title
			require.Greater(t, len(p.text), 25, name)
			require.True(t, units[p.unit], name)
			require.NotEqual(t, p.sql == "", p.expr == nil, name)
			require.True(t, p.toDash == "" || uids[p.toDash] && p.toDash != d.uid, name)
			for _, u := range p.units {
				require.True(t, units[u], name)
			}
			linked = linked || p.toRun || p.toDash != ""
		}
		require.True(t, linked || d.run || d.metrics, "%s leads nowhere", d.uid)
	}
}

// grafana is the seeded store as a data source.
type grafana struct {
	conn  driver.Conn
	steps []*agent.Step
	asked asked
}

func newGrafana(t *testing.T) *grafana {
	t.Helper()
	e := enginetest.Start(t)
	s, err := store.Open(t.Context(), e.Options(), store.Config{Database: e.Database})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	end := time.Now().Truncate(time.Second)
	g := &grafana{asked: asked{from: end.Add(-26 * time.Hour), to: end.Add(4 * time.Hour), interval: time.Hour, variables: map[string][]string{
		"tenant": {storeseed.Tenant}, "run": {"run-003"},
	}}}
	g.steps, err = storeseed.Fill(t.Context(), s, end)
	require.NoError(t, err)
	opts := *e.Options()
	opts.Auth.Database = e.Database
	g.conn, err = clickhouse.Open(&opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.conn.Close()) })
	return g
}

// result is what a query gave.
type result struct {
	columns []driver.ColumnType
	rows    [][]any
}

func (g *grafana) query(t *testing.T, sql, name string) result {
	t.Helper()
	rows, err := g.conn.Query(t.Context(), g.asked.expand(t, sql))
	require.NoError(t, err, name)
	r := result{columns: rows.ColumnTypes()}
	for rows.Next() {
		row := make([]any, len(r.columns))
		for i, c := range r.columns {
			row[i] = reflect.New(c.ScanType()).Interface()
		}
		require.NoError(t, rows.Scan(row...), name)
		for i := range row {
			row[i] = reflect.ValueOf(row[i]).Elem().Interface()
		}
		r.rows = append(r.rows, row)
	}
	require.NoError(t, rows.Err(), name)
	require.NoError(t, rows.Close())
	return r
}

var (
	numeric = regexp.MustCompile(`^(Nullable\()?(U?Int\d+|Float\d+)\)?$`)
	instant = regexp.MustCompile(`^DateTime`)
)

func TestEveryPanelOfClickHouseDrawsTheSeed(t *testing.T) {
	g := newGrafana(t)
	for _, d := range all() {
		for _, p := range d.panels {
			if p.sql == "" {
				continue
			}
			name := d.uid + " / " + p.title
			if d.uid == "steptrail-run" && p.title == "Unknown outcomes" {
				g.asked.variables["run"] = []string{"run-002"} // the other has none
			}
			r := g.query(t, p.sql, name)
			g.asked.variables["run"] = []string{"run-003"}
			require.NotEmpty(t, r.rows, "%s is empty", name)
			columns := map[string]bool{}
			numbers := 0
			for i, c := range r.columns {
				columns[c.Name()] = true
				if !numeric.MatchString(c.DatabaseTypeName()) {
					continue
				}
				numbers++
				for _, row := range r.rows {
					if f, ok := row[i].(float64); ok {
						require.False(t, math.IsNaN(f) || math.IsInf(f, 0), "%s: %s", name, c.Name())
						if p.unit == share || p.units[c.Name()] == share {
							require.True(t, f >= 0 && f <= 1, "%s: %s is %f of a whole", name, c.Name(), f)
						}
					}
				}
			}
			switch p.as {
			case asLines:
				require.Equal(t, "time", r.columns[0].Name(), name)
				require.Regexp(t, instant, r.columns[0].DatabaseTypeName(), name)
				require.Positive(t, numbers, name)
			case asStat:
				require.Len(t, r.rows, 1, name)
				require.Equal(t, len(r.columns), numbers, "%s: a figure is a number", name)
			case asTable:
				require.Greater(t, len(r.columns), 1, name)
			}
			for column := range p.units {
				require.True(t, columns[column], "%s has a unit for %s, which is no column", name, column)
			}
			require.True(t, !p.toRun || columns["run"], name)
		}
	}
}

func TestFiltersAndVariablesOfTheDashboardsWork(t *testing.T) {
	g := newGrafana(t)
	for _, d := range all() {
		for _, v := range d.variables() {
			model, err := v.Build()
			require.NoError(t, err)
			if model.Type != dashboard.VariableTypeQuery {
				continue
			}
			r := g.query(t, *model.Query.String, d.uid+" $"+model.Name)
			require.NotEmpty(t, r.rows, "%s: $%s has no values", d.uid, model.Name)
		}
	}
	one := &asked{from: g.asked.from, to: g.asked.to, interval: time.Hour, variables: map[string][]string{
		"tenant": {"default"}, "run": {`\' OR 1=1 -- it's`}, "agent": {"support-agent", "o'hara", `\') OR 1=1 --`}, "task_type": {"refund"}, "tool": {"issue_refund"}, "model": {"gpt-4o"},
	}}
	all24 := g.asked
	for _, d := range all() {
		for _, p := range d.panels {
			if p.sql != "" {
				g.asked = *one
				some := g.query(t, p.sql, d.uid+" / "+p.title)
				g.asked = all24
				if d.run {
					require.Empty(t, some.rows, "%s: a hostile id is an id", p.title)
				}
				if p.as == asTable && !d.run {
					require.LessOrEqual(t, len(some.rows), len(g.query(t, p.sql, p.title).rows), p.title)
				}
			}
		}
	}
}

func TestTheFiguresOfOverviewAreThoseOfTheRawSteps(t *testing.T) {
	g := newGrafana(t)
	var runs, stated, success, failed, unstated, steps, cost float64
	for _, r := range agent.Runs(agent.Input{Steps: g.steps, Quiet: true, Silent: true}) {
		runs++
		if r.Stated {
			stated++
		}
		switch r.Outcome {
		case agent.RunOutcomeSuccess:
			success++
		case agent.RunOutcomeFailure:
			failed++
		case agent.RunOutcomeUnset:
			unstated++
		}
		for _, c := range agent.CountsOf(r) {
			steps += float64(c.Steps)
		}
		_, attempts := agent.UsageOf(r)
		cost += float64(attempts.CostNano) / 1e9
	}
	want := map[string]float64{
		"Success rate": success / stated, "Failure rate": failed / runs, "Unstated": unstated / runs, "Runs": runs,
		"Cost per run": cost / runs, "Steps per run": steps / runs,
	}
	for _, p := range overview().panels {
		if p.as != asStat {
			continue
		}
		r := g.query(t, p.sql, p.title)
		require.InDelta(t, want[p.title], r.rows[0][0], 1e-9, p.title)
		delete(want, p.title)
	}
	require.Empty(t, want)
}

var metricName = regexp.MustCompile(`\b(steptrail|otelcol)_\w+`)

// Every metric of ours that a panel asks for stands in a component's README,
// whose table a test of that component holds to its code.
func TestEveryPanelOfPrometheusAsksForMetricsThatExist(t *testing.T) {
	var known strings.Builder
	for _, folder := range []string{
		"query", "processor/agentstepprocessor", "exporter/agentstoreexporter", "extension/agentanalyzerextension",
		"extension/agentstorageextension", "extension/otlpguardextension",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", folder, "README.md"))
		require.NoError(t, err)
		known.Write(text)
	}
	for _, d := range all() {
		for _, p := range d.panels {
			for _, expr := range p.expr {
				names := metricName.FindAllString(expr, -1)
				require.NotEmpty(t, names, expr)
				for _, n := range names {
					n = strings.TrimSuffix(n, "_bucket")
					require.Contains(t, known.String(), "`"+n+"`", "%s: %s", p.title, expr)
				}
			}
		}
	}
}

func TestTheReadmeNamesEveryPanel(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	var want bytes.Buffer
	for _, d := range all() {
		fmt.Fprintf(&want, "### %s (`%s.json`)\n\n%s\n\n| panel | unit | what it answers, and what to do |\n|---|---|---|\n", d.title, d.uid, d.text)
		for _, p := range d.panels {
			fmt.Fprintf(&want, "| %s | %s | %s |\n", p.title, p.unit, p.text)
		}
		want.WriteString("\n")
	}
	const begin, end = "<!-- panels: written by the tests with STEPTRAIL_UPDATE=1 -->\n", "<!-- /panels -->"
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	made := before + begin + want.String() + end + after
	if os.Getenv("STEPTRAIL_UPDATE") == "1" {
		require.NoError(t, os.WriteFile("../README.md", []byte(made), 0o644))
		return
	}
	require.Equal(t, made, string(text), "run this test with STEPTRAIL_UPDATE=1")
}

func TestDashboardsHoldNoIDsOfAServer(t *testing.T) {
	for _, d := range all() {
		text, err := os.ReadFile(filepath.Join("..", d.uid+".json"))
		require.NoError(t, err)
		var board struct {
			ID     any    `json:"id"`
			UID    string `json:"uid"`
			Panels []struct {
				Datasource struct{ UID string } `json:"datasource"`
			} `json:"panels"`
		}
		require.NoError(t, json.Unmarshal(text, &board))
		require.Nil(t, board.ID)
		require.Equal(t, d.uid, board.UID)
		for _, p := range board.Panels {
			require.True(t, strings.HasPrefix(p.Datasource.UID, "${"), "the data source is chosen, not fixed")
		}
	}
}
