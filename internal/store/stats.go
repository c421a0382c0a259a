package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

var (
	sqlStats = map[agent.Statistic]statement{
		agent.StatSuccess:     load("stats_success"),
		agent.StatEscalations: load("stats_escalations"),
		agent.StatCost:        load("stats_usage_runs"),
		agent.StatSteps:       load("stats_steps"),
		agent.StatToolErrors:  load("stats_tool_errors"),
		agent.StatLatency:     load("stats_latency"),
		agent.StatFindings:    load("stats_findings"),
		agent.StatTokens:      load("stats_usage_runs"),
	}
	sqlStatsModels = load("stats_usage_models")
)

// MaxStatsRows is how many rows of figures are given at once at most.
const MaxStatsRows = 10_000

// Stats gives figures by bucket and group, in their order, of what the sweep has
// written. Runs that it has not judged yet are not among them.
func (r *Reader) Stats(ctx context.Context, what agent.Statistic, f agent.StatsFilter) ([]agent.StatsRow, error) {
	sql, ok := sqlStats[what]
	if !ok {
		return nil, fmt.Errorf("statistic %q: %w", what, ErrNotFound)
	}
	// A run may have several models: their usage is that of its model calls.
	byCall := slices.Contains(f.By, "model") || slices.Contains(f.By, "prompt_version") || f.Model != "" || f.Tool != ""
	if byCall && (what == agent.StatCost || what == agent.StatTokens) {
		sql = sqlStatsModels
	}
	limit := int64(f.Limit)
	if limit <= 0 || limit > MaxStatsRows {
		limit = MaxStatsRows
	}
	p := r.params().number("from", f.From).number("to", until(f.To)).number("bucket", f.Bucket).texts("by", f.By).
		text("agent", f.Agent).text("task_type", f.TaskType).text("tool", f.Tool).text("model", f.Model).number("limit", limit)
	var set column.Set
	bucket := column.Add(&set, "bucket", &column.Int64{})
	group := column.Add(&set, "by_group", column.NewMap(column.NewDict()))
	figures := column.Add(&set, "figures", column.NewMap(&column.Float64{}))
	var out []agent.StatsRow
	err := r.query(ctx, wrapStats(sql), p, &set, func() error {
		for i := range set.Rows() {
			row := agent.StatsRow{Bucket: bucket.Row(i), Group: map[string]string{}, Figures: map[string]float64{}}
			for j, hi := group.Span(i); j < hi; j++ {
				row.Group[group.Keys.Row(j)] = group.Vals.Row(j)
			}
			for j, hi := figures.Span(i); j < hi; j++ {
				row.Figures[figures.Keys.Row(j)] = figures.Vals.Row(j)
			}
			out = append(out, row)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("statistics of %s: %w", what, err)
	}
	return out, nil
}

// wrapStats gives a statement's columns the types that they are read as. The
// statements themselves are those of the dashboards.
func wrapStats(s statement) string {
	return `SELECT toInt64(bucket) AS bucket,
    CAST(by_group, 'Map(LowCardinality(String), LowCardinality(String))') AS by_group,
    CAST(figures, 'Map(LowCardinality(String), Float64)') AS figures
FROM (
` + string(s) + "\n)"
}

// StatsSQL is the text of a statement over many runs, such as stats_success, for
// dashboards that ask the same. It panics where there is none of the name.
func StatsSQL(name string) string { return string(load(name)) }
