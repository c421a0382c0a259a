package query

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

const (
	resolutionRoute = "/api/v1/unknowns/:finding_id/resolution"

	// What a person may say of an unknown outcome, in characters; as in
	// openapi.yaml.
	maxActor = 200
	maxNote  = 4000
)

// ListUnknowns answers GET /api/v1/unknowns.
func (s *Server) ListUnknowns(ctx context.Context, req api.ListUnknownsRequestObject) (api.ListUnknownsResponseObject, error) {
	ctx = requestContext(ctx)
	f, err := s.unknownFilter(ctx, req.Params)
	if err != nil {
		return nil, err
	}
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	ask := f
	ask.Limit++
	page, err := r.Unknowns(ctx, ask)
	if err != nil {
		return nil, err
	}
	out := api.UnknownList{Unknowns: make([]api.Unknown, 0, len(page))}
	if len(page) > f.Limit {
		page = page[:f.Limit]
		out.NextCursor = f.cursor(page[f.Limit-1])
	}
	lives, err := s.lives(ctx, r, page)
	if err != nil {
		return nil, err
	}
	for i := range page {
		out.Unknowns = append(out.Unknowns, unknownOf(&page[i], lives))
	}
	return api.ListUnknowns200JSONResponse(out), nil
}

// lives derives the runs that the findings are about, at once.
func (s *Server) lives(ctx context.Context, r UnknownReader, found []agent.Finding) ([]*life, error) {
	var units []string
	for i := range found {
		if len(found[i].Evidence) > 0 {
			units = append(units, found[i].Evidence[0].Unit)
		}
	}
	if len(units) == 0 {
		return nil, nil
	}
	groups, err := r.Groups(ctx, units)
	if err != nil {
		return nil, err
	}
	units = units[:0]
	for i := range groups {
		units = append(units, groups[i].Units...)
	}
	said, err := r.Resolutions(ctx, units)
	if err != nil {
		return nil, err
	}
	now := s.opts.Now()
	var out []*life
	for i := range groups {
		for _, run := range agent.Runs(s.awaited(&groups[i], now)) {
			if l := s.lifeOf(run, said, now); len(l.all) > 0 {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// unknownOf gives what a finding is about. Its own status counts, by which the
// list is ordered and filtered. Where the spans have expired, the finding itself
// is all that is known.
func unknownOf(f *agent.Finding, lives []*life) api.Unknown {
	for _, l := range lives {
		if i := l.find(f); i >= 0 {
			out := l.object(i, []agent.Finding{*f})
			out.ID, out.RunID = f.ID.String(), f.Run
			if f.Status == agent.StatusOpen {
				out.Status, out.Settled = api.UnknownStatusOpen, nil
				if out.Next == nil { // settled since the finding was written
					out.Next = l.next(l.attempt(i))
				}
			}
			return out
		}
	}
	out := api.Unknown{
		ID: f.ID.String(), RunID: f.Run, StepID: f.Step, Tool: f.Tool, Agent: f.Agent, Since: api.Timestamp(f.DetectedAt),
		Status: api.UnknownStatusOpen, Overdue: f.Severity == agent.SeverityCritical,
	}
	if f.Status == agent.StatusResolved {
		out.Status, out.Overdue = api.UnknownStatusResolved, false
	}
	if len(f.Evidence) > 0 {
		e := &f.Evidence[0]
		out.TraceID, out.SpanID, out.Attempt = e.Trace.String(), e.Span.String(), int(e.Attempt)
	}
	return out
}

// ResolveUnknown answers POST /api/v1/unknowns/{finding_id}/resolution.
func (s *Server) ResolveUnknown(ctx context.Context, req api.ResolveUnknownRequestObject) (api.ResolveUnknownResponseObject, error) {
	ctx = requestContext(ctx)
	id, err := agent.ParseFindingID(req.FindingID)
	if err != nil {
		return nil, badParameter("finding_id", "must be 32 hex digits")
	}
	way, err := checkResolution(req.Body)
	if err != nil {
		return nil, err
	}
	note, err := s.written(ctx, "note", req.Body.Note)
	if err != nil {
		return nil, err
	}
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	// One at a time, so that of two people who say different things at once the
	// second is told. Beside another server the first by the clock counts.
	select {
	case s.settling <- struct{}{}:
		defer func() { <-s.settling }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	f, l, at, err := s.unknown(ctx, r, id)
	if err != nil {
		return nil, err
	}
	if u := &l.all[at]; !u.Open() && u.Way != way {
		return nil, conflict(u)
	}
	if err := s.resolve(ctx, r, &f, l, at, way, req.Body.Actor, note); err != nil {
		return nil, err
	}
	if l, err = s.life(ctx, r, l.run, s.opts.Now()); err != nil {
		return nil, err
	}
	out := l.object(at, []agent.Finding{f})
	out.ID, out.RunID = f.ID.String(), f.Run
	return api.ResolveUnknown200JSONResponse(out), nil
}

// unknown finds what a finding's id is about.
func (s *Server) unknown(ctx context.Context, r Reader, id agent.FindingID) (f agent.Finding, l *life, at int, err error) {
	for range maxMoves {
		if f, err = finding(ctx, r, id); err != nil {
			return f, nil, 0, err
		}
		if id = f.MergedInto; id == (agent.FindingID{}) {
			break
		}
	}
	if f.Kind != kindUnknown {
		return f, nil, 0, newProblem(http.StatusNotFound, "the finding under this id is no unknown outcome")
	}
	if f.Status == agent.StatusWithdrawn {
		return f, nil, 0, newProblem(http.StatusConflict, "the finding was withdrawn: by what is known now, the outcome was not unknown")
	}
	if len(f.Evidence) == 0 {
		return f, nil, 0, ErrNotFound
	}
	lives, err := s.lives(ctx, r, []agent.Finding{f})
	if err != nil {
		return f, nil, 0, err
	}
	for _, l := range lives {
		if at := l.find(&f); at >= 0 {
			return f, l, at, nil
		}
	}
	return f, nil, 0, newProblem(http.StatusNotFound, "the spans of this outcome have expired, so that nothing can be said of it any more")
}

// resolve writes down what a person said, unless that is known already, and the
// finding as it is then.
func (s *Server) resolve(ctx context.Context, r UnknownSettler, f *agent.Finding, l *life, at int, way agent.Settlement, actor, note string) error {
	a := l.attempt(at)
	now := s.opts.Now()
	if l.all[at].Open() {
		rec := agent.ResolutionRecord{
			Resolution: agent.Resolution{
				Unit: a.Unit, Trace: a.Trace, Span: a.Span, Part: a.Part, Way: way, At: now.Truncate(time.Millisecond).UnixNano(),
			},
			Finding: f.ID, Run: f.Run, Actor: actor, Note: note, Expires: f.Expires,
		}
		for _, span := range l.run.Spans {
			rec.Expires = max(rec.Expires, span.Expires) // the outcome must not open again
		}
		_, _ = rand.Read(rec.ID[:]) // never fails (crypto/rand)
		if err := r.AddResolution(ctx, &rec); err != nil {
			return err
		}
	}
	if f.Status != agent.StatusOpen {
		return nil
	}
	asSettled(f)
	return r.MarkSettled(ctx, *f, a.Unit)
}

func conflict(u *agent.Unknown) error {
	how := "without saying which way"
	if u.Way != agent.SettlementUnset {
		how = "as " + u.Way.String()
	}
	by := map[agent.SettledBy]string{
		agent.SettledByReconcile: "a look in the run", agent.SettledByReplay: "a replay under its key", agent.SettledByPerson: "a person in the run",
		agent.SettledByGate: "the gate", agent.SettledByResolution: "a person",
	}[u.By]
	return newProblem(http.StatusConflict, "this outcome is settled "+how+" already, by "+by)
}

// checkResolution reads what a person says.
func checkResolution(body *api.Resolution) (agent.Settlement, error) {
	if body == nil {
		return 0, errors.New("a request without a body reached the handler")
	}
	way, ok := agent.ParseSettlement(body.Result)
	if !ok || way == agent.SettlementUnset {
		return 0, badParameter("result", "must be applied or not_applied")
	}
	if body.Actor == "" {
		return 0, badParameter("actor", "must say who settles it")
	}
	if err := checkText("actor", body.Actor, maxActor, false); err != nil {
		return 0, err
	}
	return way, checkText("note", body.Note, maxNote, true)
}

// checkText refuses what is too long or would break a line of a log or terminal;
// without lines, the name of somebody, also what shows it in another order than
// it was written.
func checkText(name, text string, most int, lines bool) error {
	if utf8.RuneCountInString(text) > most {
		p := badParameter(name, "is longer than %d characters", most)
		p.Limit = most
		return p
	}
	for _, c := range text {
		if unicode.IsControl(c) && (!lines || c != '\n' && c != '\t') || !lines && unicode.In(c, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return badParameter(name, "must not hold control characters")
		}
	}
	return nil
}
