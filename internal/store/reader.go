package store

import (
	"context"
	"fmt"
	"math"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// Reader reads the history of one tenant. Every statement it runs is bound to
// the tenant here and nowhere else. It is safe for concurrent use.
type Reader struct {
	store  *Store
	tenant string
}

// Tenant gives a reader that sees nothing but this tenant's rows.
func (s *Store) Tenant(tenant string) *Reader { return &Reader{store: s, tenant: tenant} }

// params starts the parameters of a statement: the tenant is always among them.
func (r *Reader) params() params { return params{}.text("tenant", r.tenant) }

func (r *Reader) query(ctx context.Context, sql string, p params, out *column.Set, each func() error) error {
	return r.store.wire.query(ctx, sql, p, out, each)
}

// maxMerges bounds how far a run is followed through the runs it was taken into.
const maxMerges = 8

// RunGroup gives all that the run is derived from: the units that it has spans
// in, and every unit that may belong to it, as far as they are stored. An id of
// a run that was taken into another one gives the other's. ErrNotFound where
// nothing is stored under the id.
func (r *Reader) RunGroup(ctx context.Context, runID string) (agent.Group, error) {
	units := []string{}
	for id, n := runID, 0; id != "" && n < maxMerges; n++ {
		of, into, err := r.unitsOfRun(ctx, id)
		if err != nil {
			return agent.Group{}, fmt.Errorf("units of run: %w", err)
		}
		units = append(units, of...)
		id = into
	}
	groups, err := r.closure(ctx, units)
	if err != nil {
		return agent.Group{}, err
	}
	if len(groups) == 0 {
		return agent.Group{}, fmt.Errorf("run %q: %w", runID, ErrNotFound)
	}
	return mergeGroups(groups), nil
}

// RunInput is RunGroup without the units' names. lastArrival is when the last
// row came, Unix nanoseconds.
func (r *Reader) RunInput(ctx context.Context, runID string) (in agent.Input, lastArrival int64, err error) {
	g, err := r.RunGroup(ctx, runID)
	return g.Input, g.LastArrival, err
}

// unitsOfRun gives the units that a run has, or had, spans in, and the run that
// it was taken into.
func (r *Reader) unitsOfRun(ctx context.Context, runID string) (units []string, into string, err error) {
	units = []string{runID} // an explicit id or a trace id: a unit of that name
	links := newLinkTable()
	err = r.query(ctx, sqlLinksOfRun.with(links.Names()), r.params().text("run", runID), &links.Set, func() error {
		for i := range links.Rows() {
			if u := links.unit.Row(i); u != runID {
				units = append(units, u)
			}
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	into, err = r.takenInto(ctx, runID)
	return units, into, err
}

// takenInto names the run that a run was taken into; empty if it was not.
func (r *Reader) takenInto(ctx context.Context, runID string) (into string, err error) {
	var fate column.Set
	gone := column.Add(&fate, "gone", &column.Bool{})
	merged := column.Add(&fate, "merged_into", column.NewString())
	err = r.query(ctx, string(sqlRunFate), r.params().text("run", runID), &fate, func() error {
		if gone.Row(0) {
			into = merged.Row(0)
		}
		return nil
	})
	return into, err
}

// RunNow gives the id that a run has now: its own, or that of the run that it
// was taken into.
func (r *Reader) RunNow(ctx context.Context, runID string) (string, error) {
	for range maxMerges {
		into, err := r.takenInto(ctx, runID)
		if err != nil {
			return "", fmt.Errorf("fate of run: %w", err)
		}
		if into == "" {
			break
		}
		runID = into
	}
	return runID, nil
}

// Bodies gives the texts of the bodies of these units, as far as they are still
// kept.
func (r *Reader) Bodies(ctx context.Context, units []string, refs []agent.Ref) (map[agent.Ref]string, error) {
	out := make(map[agent.Ref]string, len(refs))
	hashes := make([]string, 0, len(refs))
	for _, ref := range refs {
		if _, ok := out[ref]; !ok && !ref.IsZero() {
			out[ref] = ""
			hashes = append(hashes, ref.String())
		}
	}
	clear(out)
	var set column.Set
	hash := column.Add(&set, "hash", &column.Bytes16{})
	body := column.Add(&set, "body", column.NewString())
	err := chunks(units, func(units []string) error {
		return chunks(hashes, func(hashes []string) error {
			p := r.params().texts("units", units).texts("hashes", hashes)
			return r.query(ctx, string(sqlBodies), p, &set, func() error {
				for i := range set.Rows() {
					out[hash.Row(i)] = body.Row(i)
				}
				return nil
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("bodies: %w", err)
	}
	return out, nil
}

// RunKey is a run's place in the order of a list.
type RunKey struct {
	Started int64 // Unix nanoseconds
	RunID   string
}

// RunFilter selects summaries. Zero fields select nothing away.
type RunFilter struct {
	From          int64 // Unix nanoseconds, of the start; inclusive
	To            int64 // Unix nanoseconds, of the start; exclusive
	Trace         agent.TraceID
	Agent         string
	TaskType      string
	Status        agent.RunStatus
	Outcome       agent.RunOutcome
	Unstated      bool   // only runs whose outcome is unset
	Finding       string // kind
	Tool          string
	Target        []string // any of these spellings
	User          []string
	Session       []string
	Model         string
	PromptVersion string
	Scenario      string

	Ascending bool   // by (start, run id), oldest first; else newest first
	After     RunKey // only runs after this place in the order; the zero key is the beginning
	Limit     int    // at most MaxPage; 0 is MaxPage
}

// MaxPage is how many items a list gives at once at most.
const MaxPage = 1000

func pageSize(limit int) int64 {
	if limit <= 0 || limit > MaxPage {
		return MaxPage
	}
	return int64(limit)
}

func until(to int64) int64 {
	if to == 0 {
		return math.MaxInt64
	}
	return to
}

// Summaries lists the newest version of each stored summary, in the order of
// the filter; runs that were taken into others are left out. Runs that the
// sweep has not summed up yet are not among them: see Changed.
func (r *Reader) Summaries(ctx context.Context, f RunFilter) ([]agent.Summary, error) {
	trace := ""
	if !f.Trace.IsZero() {
		trace = f.Trace.String()
	}
	p := r.params().number("from", f.From).number("to", until(f.To)).text("trace", trace).
		text("agent", f.Agent).text("task_type", f.TaskType).text("status", f.Status.String()).
		text("outcome", f.Outcome.String()).flag("unstated", f.Unstated).text("finding", f.Finding).
		text("tool", f.Tool).texts("target", f.Target).texts("user", f.User).texts("session", f.Session).
		text("model", f.Model).text("prompt_version", f.PromptVersion).text("scenario", f.Scenario).
		number("after_started", f.After.Started).text("after_run", f.After.RunID).number("limit", pageSize(f.Limit))
	sql := sqlRunsPage
	if f.Ascending {
		sql = sqlRunsPageUp
	}
	var page column.Set
	run := column.Add(&page, "run", column.NewString())
	column.Add(&page, "newest", &column.UInt64{})
	var ids []string
	err := r.query(ctx, string(sql), p, &page, func() error {
		for i := range page.Rows() {
			ids = append(ids, run.Row(i))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("page of runs: %w", err)
	}
	return r.SummariesOf(ctx, ids)
}

// SummariesOf reads summaries in the order of the ids.
func (r *Reader) SummariesOf(ctx context.Context, ids []string) ([]agent.Summary, error) {
	byID := make(map[string]agent.Summary, len(ids))
	t := newRunTable()
	err := chunks(ids, func(part []string) error {
		return r.query(ctx, sqlRunsOfIDs.with(t.Names()), r.params().texts("runs", part), &t.Set, func() error {
			for i := range t.Rows() {
				byID[t.run.Row(i)] = t.row(i)
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("summaries: %w", err)
	}
	out := make([]agent.Summary, 0, len(ids))
	for _, id := range ids {
		if s, ok := byID[id]; ok {
			out = append(out, s)
		}
	}
	return out, nil
}

// settled is how long a unit may go without a summary before it is known to be
// none: the sweep judges one that never is quiet after ten minutes.
const settled = int64(15 * 60 * 1e9)

// Changed gives the groups of the units that got rows after the summary of
// their run was written, newest first, for at most limit units.
func (r *Reader) Changed(ctx context.Context, limit int) ([]agent.Group, error) {
	var set column.Set
	unit := column.Add(&set, "unit", column.NewString())
	var units []string
	p := r.params().number("settled", settled).number("limit", pageSize(limit))
	err := r.query(ctx, string(sqlChangedUnits), p, &set, func() error {
		for i := range set.Rows() {
			units = append(units, unit.Row(i))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("changed units: %w", err)
	}
	return r.closure(ctx, units)
}

// FindingKey is a finding's place in the order of a list: newest first.
type FindingKey struct {
	DetectedAt int64 // Unix nanoseconds
	ID         agent.FindingID
}

// FindingFilter selects findings. Zero fields select nothing away.
type FindingFilter struct {
	ID       agent.FindingID
	Runs     []string // any of these runs
	From     int64    // Unix nanoseconds, of the detection; inclusive
	To       int64    // exclusive
	Kind     string   // exact, or a prefix where IsPrefix
	IsPrefix bool     // Kind is a prefix, such as "loop."
	Status   agent.Status
	Severity agent.Severity
	Tool     string
	Agent    string

	After FindingKey // only findings after this place, newest first
	Limit int        // at most MaxPage; 0 is MaxPage
}

// Findings lists the newest version of each finding, newest first.
func (r *Reader) Findings(ctx context.Context, f FindingFilter) ([]agent.Finding, error) {
	p := r.params().number("from", f.From).number("to", until(f.To)).texts("runs", f.Runs).
		text("id", hexOrEmpty(f.ID)).text("status", f.Status.String()).text("severity", f.Severity.String()).
		text("tool", f.Tool).text("agent", f.Agent).text("kind", "").text("kind_prefix", "").
		text("after_id", hexOrEmpty(f.After.ID)).number("after_detected", f.After.DetectedAt).number("limit", pageSize(f.Limit))
	if f.IsPrefix {
		p.text("kind_prefix", f.Kind)
	} else {
		p.text("kind", f.Kind)
	}
	ids, hexes, runs, err := r.findingPage(ctx, sqlFindingsPage, p)
	if err != nil {
		return nil, fmt.Errorf("page of findings: %w", err)
	}
	return r.findingsOf(ctx, ids, hexes, runs)
}

// findingPage reads the ids of a page of findings, as bytes and as hex digits,
// and their runs.
func (r *Reader) findingPage(ctx context.Context, sql statement, p params) (ids []agent.FindingID, hexes, runs []string, err error) {
	var page column.Set
	id := column.Add(&page, "id", &column.Bytes16{})
	run := column.Add(&page, "of_run", column.NewString())
	err = r.query(ctx, string(sql), p, &page, func() error {
		for i := range page.Rows() {
			ids = append(ids, id.Row(i))
			hexes = append(hexes, agent.FindingID(id.Row(i)).String())
			runs = append(runs, run.Row(i))
		}
		return nil
	})
	return ids, hexes, runs, err
}

// findingsOf reads findings in the order of the ids.
func (r *Reader) findingsOf(ctx context.Context, ids []agent.FindingID, hexes, runs []string) ([]agent.Finding, error) {
	byID := make(map[agent.FindingID]agent.Finding, len(ids))
	t := newFindingTable()
	err := chunks(runs, func(runs []string) error {
		return chunks(hexes, func(hexes []string) error {
			p := r.params().texts("runs", runs).texts("ids", hexes)
			return r.query(ctx, sqlFindingsOfIDs.with(t.Names()), p, &t.Set, func() error {
				for i := range t.Rows() {
					f := t.row(i)
					byID[f.ID] = f.Finding
				}
				return nil
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("findings: %w", err)
	}
	out := make([]agent.Finding, 0, len(ids))
	for _, id := range ids {
		if f, ok := byID[id]; ok {
			out = append(out, f)
		}
	}
	return out, nil
}

func hexOrEmpty(id agent.FindingID) string {
	if id == (agent.FindingID{}) {
		return ""
	}
	return id.String()
}
