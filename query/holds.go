package query

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

const (
	holdsRoute    = "/api/v1/holds"
	holdRoute     = "/api/v1/holds/:hold_id"
	erasuresRoute = "/api/v1/erasures"
	erasureRoute  = "/api/v1/erasures/:erasure_id"

	// maxReason is the length of a reason in characters; as in openapi.yaml.
	maxReason = 4000
	// accessTerm is how long a line of the access log is kept where no policy
	// says so.
	accessTerm = 400 * 24 * time.Hour
)

// ListHolds answers GET /api/v1/holds.
func (s *Server) ListHolds(ctx context.Context, req api.ListHoldsRequestObject) (api.ListHoldsResponseObject, error) {
	ctx = requestContext(ctx)
	status, err := oneOf("status", req.Params.Status, parseHoldStatus, "pending, active, ending, ended")
	if err != nil {
		return nil, err
	}
	limit, err := parseLimit(req.Params.Limit)
	if err != nil {
		return nil, err
	}
	after, err := holdAfter(status, req.Params.Cursor)
	if err != nil {
		return nil, err
	}
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	all, err := r.Holds(ctx, agent.JobID{})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(h agent.Hold) bool {
		return status != agent.HoldUnset && h.Event != status || after != nil && compareHolds(h, *after) <= 0
	})
	slices.SortFunc(all, compareHolds)
	out := api.HoldList{Holds: make([]api.Hold, 0, min(limit, len(all)))}
	if len(all) > limit {
		all = all[:limit]
		last := all[limit-1]
		out.NextCursor = encodeCursor(cursorHolds, hashFilter(status), last.Placed, last.ID.String())
	}
	for i := range all {
		out.Holds = append(out.Holds, holdOf(&all[i]))
	}
	return api.ListHolds200JSONResponse(out), nil
}

// compareHolds orders holds, newest first.
func compareHolds(a, b agent.Hold) int {
	return cmp.Or(cmp.Compare(b.Placed, a.Placed), bytes.Compare(b.ID[:], a.ID[:]))
}

func holdAfter(status agent.HoldEvent, cursor string) (*agent.Hold, error) {
	if cursor == "" {
		return nil, nil
	}
	at, text, err := decodeCursor(cursorHolds, hashFilter(status), cursor)
	if err != nil {
		return nil, err
	}
	id, err := agent.ParseJobID(text)
	if err != nil {
		return nil, badParameter("cursor", "is none that this list gave; take next_cursor of the page before as it is")
	}
	return &agent.Hold{Placed: at, ID: id}, nil
}

// PlaceHold answers POST /api/v1/holds.
func (s *Server) PlaceHold(ctx context.Context, req api.PlaceHoldRequestObject) (api.PlaceHoldResponseObject, error) {
	ctx = requestContext(ctx)
	b := req.Body
	if b == nil {
		return nil, errors.New("a request without a body reached the handler")
	}
	sel, err := selector(b.RunID, b.Target, b.User, b.From, b.To)
	if err != nil {
		return nil, err
	}
	if sel.Scope == agent.ScopeUnset {
		return nil, newProblem(http.StatusBadRequest, "say by exactly one of run_id, target, user, or from with to, which runs are meant")
	}
	if err := checkOwner(b.Owner, b.Reason); err != nil {
		return nil, err
	}
	reason, err := s.written(ctx, "reason", b.Reason)
	if err != nil {
		return nil, err
	}
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	if sel, err = s.asStored(ctx, r, sel); err != nil {
		return nil, err
	}
	h := agent.Hold{
		ID: newJobID(), Selector: sel, Owner: b.Owner, Reason: reason, Event: agent.HoldPlaced, Placed: s.opts.Now().UnixNano(),
	}
	if err := s.logAccess(ctx, r, "hold.place", b.Owner, sel, h.ID); err != nil {
		return nil, err
	}
	if err := r.WriteHold(ctx, &h, h.Placed); err != nil {
		return nil, err
	}
	return api.PlaceHold202JSONResponse(holdOf(&h)), nil
}

// EndHold answers DELETE /api/v1/holds/{hold_id}.
func (s *Server) EndHold(ctx context.Context, req api.EndHoldRequestObject) (api.EndHoldResponseObject, error) {
	ctx = requestContext(ctx)
	id, err := agent.ParseJobID(req.HoldID)
	if err != nil {
		return nil, badParameter("hold_id", "must be 32 hex digits, not all zero")
	}
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	found, err := r.Holds(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, newProblem(http.StatusNotFound, "there is no hold under this id")
	}
	h := found[0]
	if h.Event < agent.HoldReleased {
		// Nobody says who ends it: not the owner, who may know nothing of it.
		if err := s.logAccess(ctx, r, "hold.end", "", h.Selector, id); err != nil {
			return nil, err
		}
		h.Event, h.Released = agent.HoldReleased, s.opts.Now().UnixNano()
		if err := r.WriteHold(ctx, &h, h.Released); err != nil {
			return nil, err
		}
	}
	return api.EndHold202JSONResponse(holdOf(&h)), nil
}

// logAccess writes down who asked for what, before it is done. Whom an erasure
// is about is no part of the line.
func (s *Server) logAccess(ctx context.Context, r Custodian, action, actor string, sel agent.Selector, id agent.JobID) error {
	a := s.access(ctx, action, actor)
	a.Detail = sel.Scope.String() + " " + id.String()
	if sel.Scope == agent.ScopeRun {
		a.Run = sel.Subject
	}
	return r.LogAccess(ctx, []agent.Access{a})
}

// selector reads by what runs are meant: by at most one of the fields, and none
// is the zero selector.
func selector(run, target, user, from, to string) (agent.Selector, error) {
	var sel agent.Selector
	given := 0
	for _, f := range []struct {
		name, value string
		scope       agent.Scope
	}{{"run_id", run, agent.ScopeRun}, {"target", target, agent.ScopeTarget}, {"user", user, agent.ScopeUser}} {
		if f.value == "" {
			continue
		}
		if len(f.value) > maxValue {
			return sel, tooLong(f.name)
		}
		if !utf8.ValidString(f.value) {
			return sel, badParameter(f.name, "is not UTF-8")
		}
		if f.scope != agent.ScopeRun && strings.ContainsRune(f.value, 0) {
			return sel, badParameter(f.name, "must not hold the character NUL")
		}
		given++
		sel.Scope, sel.Subject = f.scope, f.value
	}
	if from != "" || to != "" {
		given++
		var err error
		sel.Scope = agent.ScopeTime
		if sel.From, sel.To, err = parseSpan(from, to); err != nil {
			return sel, err
		}
		if sel.From == 0 || sel.To == 0 {
			return sel, badParameter("from", "and to go together: a range of time has both ends")
		}
	}
	if given > 1 {
		return sel, newProblem(http.StatusBadRequest, "say by exactly one field which runs are meant; the request names several")
	}
	return sel, nil
}

func checkOwner(owner, reason string) error {
	if owner == "" {
		return badParameter("owner", "must say who answers for it")
	}
	if reason == "" {
		return badParameter("reason", "must say what it is for")
	}
	if err := checkText("owner", owner, maxActor, false); err != nil {
		return err
	}
	return checkText("reason", reason, maxReason, true)
}

func newJobID() (id agent.JobID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

var holdStatus = map[agent.HoldEvent]api.HoldStatus{
	agent.HoldPlaced: api.HoldStatusPending, agent.HoldCopied: api.HoldStatusActive,
	agent.HoldReleased: api.HoldStatusEnding, agent.HoldEnded: api.HoldStatusEnded,
}

func parseHoldStatus(s string) (agent.HoldEvent, bool) {
	for e, name := range holdStatus {
		if string(name) == s {
			return e, true
		}
	}
	return agent.HoldUnset, s == ""
}

func holdOf(h *agent.Hold) api.Hold {
	out := api.Hold{
		ID: h.ID.String(), Scope: api.HoldScope(h.Scope.String()), Owner: h.Owner, Reason: h.Reason, Status: holdStatus[h.Event],
		PlacedAt: api.Timestamp(h.Placed), ReleasedAt: api.Timestamp(h.Released), Runs: h.Runs, Rows: h.Rows,
		From: api.Timestamp(h.From), To: api.Timestamp(h.To),
	}
	if h.Event >= agent.HoldCopied && h.Runs == 0 {
		out.Detail = "it has covered no run so far"
		if h.Event == agent.HoldCopied {
			out.Detail += "; one that comes to be meant will be held"
		}
	}
	switch h.Scope {
	case agent.ScopeRun:
		out.RunID = h.Subject
	case agent.ScopeTarget:
		out.Target = h.Subject
	case agent.ScopeUser:
		out.User = h.Subject
	}
	return out
}
