package query

import (
	"context"
	"errors"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

const (
	// maxRunFindings bounds the findings of the runs of one answer. A run has a
	// handful; one made to have more shows the newest.
	maxRunFindings = 20_000
	// maxMoves bounds how often a finding may have moved to another run.
	maxMoves = 8
)

// ListFindings answers GET /api/v1/findings.
func (s *Server) ListFindings(ctx context.Context, req api.ListFindingsRequestObject) (api.ListFindingsResponseObject, error) {
	ctx = requestContext(ctx)
	f, err := findingFilter(req.Params)
	if err != nil {
		return nil, err
	}
	if err := s.checkKinds("kind", req.Params.Kind); err != nil {
		return nil, err
	}
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	if f.Runs, err = runsNow(ctx, r, f.Runs); err != nil {
		return nil, err
	}
	ask := f
	ask.Limit++
	page, err := r.Findings(ctx, ask)
	if err != nil {
		return nil, err
	}
	out := api.FindingList{Findings: make([]api.Finding, 0, len(page))}
	if len(page) > f.Limit {
		page = page[:f.Limit]
		out.NextCursor = f.cursor(page[f.Limit-1])
	}
	whole, err := wholesOf(ctx, r, page)
	if err != nil {
		return nil, err
	}
	for i := range page {
		out.Findings = append(out.Findings, findingOf(&page[i], whole[page[i].Run]))
	}
	return api.ListFindings200JSONResponse(out), nil
}

// GetFinding answers GET /api/v1/findings/{finding_id}.
func (s *Server) GetFinding(ctx context.Context, req api.GetFindingRequestObject) (api.GetFindingResponseObject, error) {
	ctx = requestContext(ctx)
	id, err := agent.ParseFindingID(req.FindingID)
	if err != nil {
		return nil, badParameter("finding_id", "must be 32 hex digits")
	}
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	found, err := finding(ctx, r, id)
	if err != nil {
		return nil, err
	}
	// A finding that moved answers as what it became.
	now := found
	for range maxMoves {
		if now.MergedInto == (agent.FindingID{}) {
			break
		}
		next, err := finding(ctx, r, now.MergedInto)
		if errors.Is(err, ErrNotFound) {
			break // expired before the row that points to it
		}
		if err != nil {
			return nil, err
		}
		now = next
	}
	whole, err := wholesOf(ctx, r, []agent.Finding{now})
	if err != nil {
		return nil, err
	}
	out := findingOf(&now, whole[now.Run])
	if now.ID != id {
		out.MergedInto = now.ID.String()
	}
	return api.GetFinding200JSONResponse(out), nil
}

// runsNow adds to the ids of runs those of the runs that they were taken into:
// an old id answers with what it became, and with what it left behind.
func runsNow(ctx context.Context, r RunLookup, asked []string) ([]string, error) {
	all := slices.Clone(asked)
	for _, id := range asked {
		now, err := r.RunNow(ctx, id)
		if err != nil {
			return nil, err
		}
		if now != id {
			all = append(all, now)
		}
	}
	return all, nil
}

// wholesOf reads the summaries of the runs in which something was wasted.
func wholesOf(ctx context.Context, r RunLookup, found []agent.Finding) (map[string]*agent.Summary, error) {
	var runs []string
	for i := range found {
		if found[i].Waste != (agent.Waste{}) {
			runs = append(runs, found[i].Run)
		}
	}
	if len(runs) == 0 {
		return nil, nil
	}
	slices.Sort(runs)
	summaries, err := r.SummariesOf(ctx, slices.Compact(runs))
	if err != nil {
		return nil, err
	}
	out := make(map[string]*agent.Summary, len(summaries))
	for i := range summaries {
		out[summaries[i].RunID] = &summaries[i]
	}
	return out, nil
}

func finding(ctx context.Context, r FindingReader, id agent.FindingID) (agent.Finding, error) {
	if id == (agent.FindingID{}) {
		return agent.Finding{}, ErrNotFound
	}
	page, err := r.Findings(ctx, FindingFilter{ID: id, Limit: 1})
	if err != nil {
		return agent.Finding{}, err
	}
	if len(page) == 0 {
		return agent.Finding{}, ErrNotFound
	}
	return page[0], nil
}

// findingsOf reads the findings of the runs, by run, oldest first.
func findingsOf(ctx context.Context, r FindingReader, runs []string) (map[string][]agent.Finding, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	slices.Sort(runs)
	out := map[string][]agent.Finding{}
	f := FindingFilter{Runs: runs, Limit: maxLimit}
	for n := 0; n < maxRunFindings; {
		page, err := r.Findings(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range page {
			out[page[i].Run] = append(out[page[i].Run], page[i])
		}
		n += len(page)
		if len(page) < f.Limit {
			break
		}
		last := &page[len(page)-1]
		f.After = FindingKey{DetectedAt: last.DetectedAt, ID: last.ID}
	}
	for _, found := range out {
		slices.Reverse(found)
	}
	return out, nil
}
