package query

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

// ListRuns answers GET /api/v1/runs.
func (s *Server) ListRuns(ctx context.Context, req api.ListRunsRequestObject) (api.ListRunsResponseObject, error) {
	ctx = requestContext(ctx)
	f, err := s.runFilter(ctx, req.Params)
	if err != nil {
		return nil, err
	}
	if err := s.checkKind("finding", req.Params.Finding); err != nil {
		return nil, err
	}
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	fresh, err := s.changedRuns(ctx, identityOf(ctx).Tenant, r)
	if err != nil {
		return nil, err
	}
	page, err := listRuns(ctx, r, f, fresh)
	if err != nil {
		return nil, err
	}
	out := api.RunList{Runs: make([]api.Run, 0, f.Limit)}
	if len(page) > f.Limit {
		page = page[:f.Limit]
		out.NextCursor = f.cursor(page[f.Limit-1])
	}
	now := s.opts.Now()
	for i := range page {
		out.Runs = append(out.Runs, runOf(&page[i], now))
	}
	return api.ListRuns200JSONResponse(out), nil
}

// listRuns merges stored summaries and changed runs, one more than the limit
// where there are more. A changed run stands for its stored summary.
func listRuns(ctx context.Context, r RunLister, f RunFilter, fresh *changed) ([]agent.Summary, error) {
	want := f.Limit + 1
	var page []agent.Summary
	for i := range fresh.runs {
		if f.matches(&fresh.runs[i]) {
			page = append(page, fresh.runs[i])
		}
	}
	stored := f
	stored.Limit = want
	for kept := 0; kept < want; {
		batch, err := r.Summaries(ctx, stored)
		if err != nil {
			return nil, err
		}
		for i := range batch {
			if !fresh.supersedes(&batch[i]) {
				page, kept = append(page, batch[i]), kept+1
			}
		}
		if len(batch) < stored.Limit {
			break
		}
		stored.After = keyOf(&batch[len(batch)-1])
	}
	slices.SortFunc(page, func(a, b agent.Summary) int { return f.before(keyOf(&a), keyOf(&b)) })
	return page[:min(want, len(page))], nil
}

// GetRun answers GET /api/v1/runs/{run_id}.
func (s *Server) GetRun(ctx context.Context, req api.GetRunRequestObject) (api.GetRunResponseObject, error) {
	ctx = requestContext(ctx)
	v, err := s.load(ctx, req.RunID)
	if err != nil {
		return nil, err
	}
	return api.GetRun200JSONResponse(v.object()), nil
}

// view is a run as it is now, with all that an answer about it needs.
type view struct {
	reader   Reader
	group    agent.Group
	run      *agent.Run
	asked    string // the id that was asked for
	findings []agent.Finding
	life     *life
	summary  agent.Summary
	server   *Server
}

// load derives the run from its spans. The id of a run that was merged into
// another gives that one.
func (s *Server) load(ctx context.Context, id string) (*view, error) {
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	v := &view{reader: r, asked: id, server: s}
	var found map[string][]agent.Finding
	both, bothCtx := errgroup.WithContext(ctx) // the run mostly has the id that was asked for
	both.Go(s.guard(func() (err error) {
		v.group, err = r.RunGroup(bothCtx, id)
		return err
	}))
	both.Go(s.guard(func() (err error) {
		found, err = findingsOf(bothCtx, r, []string{id})
		return err
	}))
	if err := both.Wait(); err != nil {
		return nil, err
	}
	now := s.opts.Now()
	input := s.awaited(&v.group, now)
	if v.run = agent.NewRun(id, input); v.run == nil {
		v.run = holder(id, input)
	}
	if v.run == nil {
		return nil, ErrNotFound
	}
	if v.run.ID != id {
		if found, err = findingsOf(ctx, r, []string{v.run.ID}); err != nil {
			return nil, err
		}
	}
	v.findings = found[v.run.ID]
	if v.life, err = s.life(ctx, r, v.run, now); err != nil {
		return nil, err
	}
	v.life.settle(v.findings)
	v.summary = s.summarise(v.run, v.findings, v.group.LastArrival, now)
	return v, nil
}

// holder is the first run that has spans in the unit of the name: what became
// of a run that had it as its id.
func holder(unit string, input agent.Input) *agent.Run {
	for _, run := range agent.Runs(input) {
		if slices.Contains(run.Units, unit) {
			return run
		}
	}
	return nil
}

func (v *view) object() api.Run {
	out := runOf(&v.summary, v.server.opts.Now())
	out.Completeness.Truncated = v.group.Truncated
	if v.run.ID != v.asked {
		out.MergedInto = v.run.ID
	}
	return out
}
