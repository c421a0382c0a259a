package agentqueryextension

import (
	"context"
	"errors"
	"fmt"

	"github.com/steptrail/steptrail/extension/agentstorageextension"
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/query"
)

// reader is a tenant's store.Reader as package query wants it: the same
// questions, with the filters and the errors of package query.
type reader struct{ store *store.Reader }

var _ query.Reader = reader{}

// reader gives the reader of a tenant, or query.ErrUnavailable.
func (s *server) reader(tenant string) (query.Reader, error) {
	st, err := s.storage.Store()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", query.ErrUnavailable, err)
	}
	return reader{st.Tenant(tenant)}, nil
}

func (r reader) RunGroup(ctx context.Context, runID string) (agent.Group, error) {
	g, err := r.store.RunGroup(ctx, runID)
	return g, classify(err)
}

func (r reader) Bodies(ctx context.Context, units []string, refs []agent.Ref) (map[agent.Ref]string, error) {
	bodies, err := r.store.Bodies(ctx, units, refs)
	return bodies, classify(err)
}

func (r reader) Summaries(ctx context.Context, f query.RunFilter) ([]agent.Summary, error) {
	summaries, err := r.store.Summaries(ctx, store.RunFilter{
		From: f.From, To: f.To, Trace: f.Trace, Agent: f.Agent, TaskType: f.TaskType, Status: f.Status, Outcome: f.Outcome, Unstated: f.Unstated,
		Finding: f.Finding, Tool: f.Tool, Target: f.Target, User: f.User, Session: f.Session, Model: f.Model, PromptVersion: f.PromptVersion,
		Scenario: f.Scenario, Ascending: f.Ascending, After: store.RunKey(f.After), Limit: f.Limit,
	})
	return summaries, classify(err)
}

func (r reader) SummariesOf(ctx context.Context, runs []string) ([]agent.Summary, error) {
	summaries, err := r.store.SummariesOf(ctx, runs)
	return summaries, classify(err)
}

func (r reader) RunNow(ctx context.Context, runID string) (string, error) {
	now, err := r.store.RunNow(ctx, runID)
	return now, classify(err)
}

func (r reader) Changed(ctx context.Context, limit int) ([]agent.Group, error) {
	groups, err := r.store.Changed(ctx, limit)
	return groups, classify(err)
}

func (r reader) Findings(ctx context.Context, f query.FindingFilter) ([]agent.Finding, error) {
	found, err := r.store.Findings(ctx, store.FindingFilter{
		ID: f.ID, Runs: f.Runs, From: f.From, To: f.To, Kind: f.Kind, IsPrefix: f.IsPrefix, Status: f.Status, Severity: f.Severity,
		Tool: f.Tool, Agent: f.Agent, After: store.FindingKey(f.After), Limit: f.Limit,
	})
	return found, classify(err)
}

func (r reader) Unknowns(ctx context.Context, f query.UnknownFilter) ([]agent.Finding, error) {
	found, err := r.store.Unknowns(ctx, store.UnknownFilter{
		Run: f.Run, Tool: f.Tool, Agent: f.Agent, Target: f.Target, Status: f.Status, After: store.UnknownKey(f.After), Limit: f.Limit,
	})
	return found, classify(err)
}

func (r reader) Groups(ctx context.Context, units []string) ([]agent.Group, error) {
	groups, err := r.store.Groups(ctx, units)
	return groups, classify(err)
}

func (r reader) Resolutions(ctx context.Context, units []string) ([]agent.ResolutionRecord, error) {
	said, err := r.store.Resolutions(ctx, units)
	return said, classify(err)
}

func (r reader) Stats(ctx context.Context, what agent.Statistic, f agent.StatsFilter) ([]agent.StatsRow, error) {
	rows, err := r.store.Stats(ctx, what, f)
	return rows, classify(err)
}

func (r reader) AddResolution(ctx context.Context, rec *agent.ResolutionRecord) error {
	return classify(r.store.AddResolution(ctx, rec))
}

func (r reader) MarkSettled(ctx context.Context, f agent.Finding, unit string) error {
	return classify(r.store.MarkSettled(ctx, f, unit))
}

func (r reader) Holds(ctx context.Context, id agent.JobID) ([]agent.Hold, error) {
	holds, err := r.store.Holds(ctx, id)
	return holds, classify(err)
}

func (r reader) Named(ctx context.Context, sel agent.Selector) (bool, error) {
	there, err := r.store.Named(ctx, sel)
	return there, classify(err)
}

func (r reader) WriteHold(ctx context.Context, h *agent.Hold, at int64) error {
	return classify(r.store.WriteHold(ctx, h, at))
}

func (r reader) Erasure(ctx context.Context, id agent.JobID) (agent.Erasure, error) {
	e, err := r.store.Erasure(ctx, id)
	return e, classify(err)
}

func (r reader) WriteErasure(ctx context.Context, e *agent.Erasure, at int64) error {
	return classify(r.store.WriteErasure(ctx, e, at))
}

func (r reader) LogAccess(ctx context.Context, lines []agent.Access) error {
	return classify(r.store.LogAccess(ctx, lines))
}

// classify adds the error of package query that says what to tell a client.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("%w: %w", query.ErrNotFound, err)
	case agentstorageextension.Unavailable(err):
		return fmt.Errorf("%w: %w", query.ErrUnavailable, err)
	default:
		return err
	}
}
