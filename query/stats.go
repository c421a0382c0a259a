package query

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

const (
	statsRoute = "/api/v1/stats/:statistic"

	// maxStatsRows is the most that an answer holds; as in openapi.yaml.
	maxStatsRows = 10_000

	minBucket = time.Minute
	maxBucket = 366 * 24 * time.Hour
)

// GetStats answers GET /api/v1/stats/{statistic}.
func (s *Server) GetStats(ctx context.Context, req api.GetStatsRequestObject) (api.GetStatsResponseObject, error) {
	ctx = requestContext(ctx)
	what := agent.Statistic(req.Statistic)
	groups, known := agent.Statistics()[what]
	if !known {
		names := slices.Sorted(maps.Keys(agent.Statistics()))
		all := make([]string, 0, len(names))
		for _, n := range names {
			all = append(all, string(n))
		}
		return nil, newProblem(http.StatusNotFound, "there is no such statistic; there are: "+strings.Join(all, ", "))
	}
	f, err := statsFilter(req.Params, groups)
	if err != nil {
		return nil, err
	}
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	f.Limit = maxStatsRows
	rows, err := r.Stats(ctx, what, f)
	if err != nil {
		return nil, err
	}
	out := api.Stats{Stats: make([]api.StatsRow, 0, len(rows)), Truncated: len(rows) >= maxStatsRows}
	for _, row := range rows {
		item := api.StatsRow{Group: row.Group, Figures: row.Figures}
		if f.Bucket > 0 {
			begin := api.Timestamp(row.Bucket * int64(time.Second))
			item.Bucket = &begin
		}
		out.Stats = append(out.Stats, item)
	}
	return api.GetStats200JSONResponse(out), nil
}

func statsFilter(p api.GetStatsParams, groups []string) (f agent.StatsFilter, err error) {
	f = agent.StatsFilter{Agent: p.Agent, TaskType: p.TaskType, Tool: p.Tool, Model: p.Model}
	if f.From, f.To, err = parseSpan(p.From, p.To); err != nil {
		return f, err
	}
	if p.By != "" {
		for name := range strings.SplitSeq(p.By, ",") {
			if !slices.Contains(groups, name) {
				return f, badParameter("by", "must be names of: %s, joined by commas", strings.Join(groups, ", "))
			}
			if !slices.Contains(f.By, name) {
				f.By = append(f.By, name)
			}
		}
	}
	if p.Bucket == "" {
		return f, nil
	}
	width, err := time.ParseDuration(p.Bucket)
	if err != nil || width < minBucket || width > maxBucket || width%time.Second != 0 {
		return f, badParameter("bucket", "must be a duration of whole seconds such as 5m, 1h or 24h, from 1m to 8784h")
	}
	f.Bucket = int64(width / time.Second)
	return f, nil
}
