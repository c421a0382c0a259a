package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

const (
	clickhouseType = "grafana-clickhouse-datasource"
	// pluginVersion is the version of the data source's plugin whose macros and
	// query model the panels are written for.
	pluginVersion = "4.11.0"
)

// visual is how a panel draws.
type visual string

const (
	asLines visual = "timeseries"
	asStat  visual = "stat"
	asTable visual = "table"
)

// panel is one panel: what it shows, and what to do when that looks bad.
type panel struct {
	title string
	text  string
	as    visual
	unit  string
	w, h  uint32

	sql    string            // of ClickHouse, or
	expr   map[string]string // of Prometheus, by legend
	units  map[string]string // by column of a table
	toRun  bool              // the column run links to the run's dashboard
	toDash string            // uid of the dashboard that tells more
}

// dash is one dashboard.
type dash struct {
	uid, title, text string
	run              bool // asks for one run instead of filters
	metrics          bool // shows metrics only
	panels           []panel
}

func ref(kind string) common.DataSourceRef {
	if kind == "clickhouse" {
		return common.DataSourceRef{Type: new(clickhouseType), Uid: new("${clickhouse}")}
	}
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${prometheus}")}
}

func (d *dash) build() (dashboard.Dashboard, error) { //nolint:staticcheck // provisioning of files reads this format in every Grafana that has the plugin
	//nolint:staticcheck // as above
	b := dashboard.NewDashboardBuilder(d.title).Uid(d.uid).Description(d.text).Tags([]string{"steptrail"}).
		Time("now-24h", "now").Refresh("1m").Timezone("browser").Readonly().Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Link(dashboard.NewDashboardLinkBuilder("Steptrail").Type(dashboard.DashboardLinkTypeDashboards).
			Tags([]string{"steptrail"}).AsDropdown(true).IncludeVars(true).KeepTime(true))
	for _, v := range d.variables() {
		b.WithVariable(v)
	}
	for i := range d.panels {
		b.WithPanel(d.panels[i].build())
	}
	return b.Build()
}

func (d *dash) variables() []cog.Builder[dashboard.VariableModel] {
	prom := dashboard.NewDatasourceVariableBuilder("prometheus").Label("Prometheus").Type("prometheus")
	if d.metrics {
		return []cog.Builder[dashboard.VariableModel]{prom}
	}
	out := []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("clickhouse").Label("ClickHouse").Type(clickhouseType),
		choice("tenant", "Tenant", "SELECT DISTINCT tenant FROM runs WHERE expires_at > now() ORDER BY tenant", false),
	}
	if d.run {
		return append(out,
			dashboard.NewTextBoxVariableBuilder("run").Label("Run").Description("The run's id, as in the API."),
			dashboard.NewTextBoxVariableBuilder("api").Label("API").Description("Address of the query API, for the link to the run's whole history.").
				DefaultValue(dashboard.StringOrMap{String: new("http://127.0.0.1:8686")}))
	}
	for _, v := range [...][3]string{
		{"agent", "Agent", "SELECT DISTINCT agent FROM runs WHERE tenant = " + value("tenant") + " AND expires_at > now() ORDER BY agent"},
		{"task_type", "Task type", "SELECT DISTINCT task_type FROM runs WHERE tenant = " + value("tenant") + " AND expires_at > now() ORDER BY task_type"},
		{"tool", "Tool", "SELECT DISTINCT arrayJoin(tools) AS tool FROM runs WHERE tenant = " + value("tenant") + " AND expires_at > now() ORDER BY tool"},
		{"model", "Model", "SELECT DISTINCT arrayJoin(models) AS model FROM runs WHERE tenant = " + value("tenant") + " AND expires_at > now() ORDER BY model"},
	} {
		out = append(out, choice(v[0], v[1], v[2], true))
	}
	return out
}

// choice is a variable whose values a query gives.
func choice(name, label, sql string, many bool) cog.Builder[dashboard.VariableModel] {
	v := dashboard.NewQueryVariableBuilder(name).Label(label).Datasource(ref("clickhouse")).Query(dashboard.StringOrMap{String: &sql}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc).Multi(many).IncludeAll(many)
	if many {
		v.Current(dashboard.VariableOption{
			Selected: new(true),
			Text:     dashboard.StringOrArrayOfString{String: new("All")}, Value: dashboard.StringOrArrayOfString{String: new("$__all")},
		})
	}
	return v
}

// targets are the panel's queries.
func (p *panel) targets() []cog.Builder[variants.Dataquery] {
	if p.sql != "" {
		format, kind := 1, "table"
		if p.as == asLines {
			format, kind = 0, "timeseries"
		}
		return []cog.Builder[variants.Dataquery]{variants.NewUnknownDataqueryBuilderFromObject(variants.UnknownDataquery{
			"refId": "A", "datasource": map[string]any{"type": clickhouseType, "uid": "${clickhouse}"}, "pluginVersion": pluginVersion,
			"editorType": "sql", "queryType": kind, "format": format, "rawSql": p.sql,
		})}
	}
	var out []cog.Builder[variants.Dataquery]
	for i, legend := range sortedKeys(p.expr) {
		q := prometheus.NewDataqueryBuilder().RefId(string(rune('A' + i))).Expr(p.expr[legend]).LegendFormat(legend).Datasource(ref("prometheus"))
		if p.as == asLines {
			q.Range()
		} else {
			q.Instant()
		}
		out = append(out, q)
	}
	return out
}

func (p *panel) source() common.DataSourceRef {
	if p.sql != "" {
		return ref("clickhouse")
	}
	return ref("prometheus")
}

func (p *panel) build() cog.Builder[dashboard.Panel] {
	var links []cog.Builder[dashboard.DashboardLink]
	if p.toDash != "" {
		links = append(links, dashboard.NewDashboardLinkBuilder("More").Type(dashboard.DashboardLinkTypeLink).
			Url("/d/"+p.toDash+"?${__url_time_range}&${__all_variables}"))
	}
	switch p.as {
	case asLines:
		return timeseries.NewPanelBuilder().Title(p.title).Description(p.text).Unit(p.unit).Datasource(p.source()).Targets(p.targets()).
			Span(p.w).Height(p.h).Links(links).FillOpacity(10).ShowPoints(common.VisibilityModeAuto).SpanNulls(common.BoolOrFloat64{Bool: new(false)}).
			Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).Calcs([]string{}))
	case asStat:
		return stat.NewPanelBuilder().Title(p.title).Description(p.text).Unit(p.unit).Datasource(p.source()).Targets(p.targets()).
			Span(p.w).Height(p.h).Links(links).NoValue("-").ColorMode(common.BigValueColorModeNone).GraphMode(common.BigValueGraphModeNone).
			ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}).Fields("/.*/"))
	case asTable:
		t := table.NewPanelBuilder().Title(p.title).Description(p.text).Unit(p.unit).Datasource(p.source()).Targets(p.targets()).
			Span(p.w).Height(p.h).Links(links).Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{"sum"}))
		for _, column := range sortedKeys(p.units) {
			t.OverrideByName(column, []dashboard.DynamicConfigValue{{Id: "unit", Value: p.units[column]}})
		}
		if p.toRun {
			t.OverrideByName("run", []dashboard.DynamicConfigValue{{Id: "links", Value: []map[string]any{{
				"title": "The run", "url": "/d/steptrail-run?${__url_time_range}&var-tenant=${tenant:percentencode}&var-run=${__value.text:percentencode}",
			}}}})
		}
		return t
	default:
		panic(fmt.Sprintf("BUG: a panel as %q", p.as))
	}
}
