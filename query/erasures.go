package query

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

// RequestErasure answers POST /api/v1/erasures.
func (s *Server) RequestErasure(ctx context.Context, req api.RequestErasureRequestObject) (api.RequestErasureResponseObject, error) {
	ctx = requestContext(ctx)
	b := req.Body
	if b == nil {
		return nil, errors.New("a request without a body reached the handler")
	}
	sel, err := selector(b.RunID, b.Target, b.User, "", "")
	if err != nil {
		return nil, err
	}
	if sel.Scope == agent.ScopeUnset {
		return nil, newProblem(http.StatusBadRequest, "say by exactly one of run_id, target and user which runs are meant")
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
	given := sel.Subject
	if sel, err = s.asStored(ctx, r, sel); err != nil {
		return nil, err
	}
	if sel.Scope == agent.ScopeRun {
		if _, err := r.RunGroup(ctx, sel.Subject); err != nil {
			return nil, err
		}
	}
	e := agent.Erasure{
		ID: newJobID(), Selector: sel, Full: b.Full, Owner: b.Owner, Reason: reason, Event: agent.ErasureRequested, Requested: s.opts.Now().UnixNano(),
	}
	e.SubjectDigest = sha256.Sum256([]byte(e.ID.String() + ":" + given))
	if err := s.logAccess(ctx, r, "erasure.request", b.Owner, sel, e.ID); err != nil {
		return nil, err
	}
	if err := r.WriteErasure(ctx, &e, e.Requested); err != nil {
		return nil, err
	}
	return api.RequestErasure202JSONResponse(erasureOf(&e)), nil
}

// GetErasure answers GET /api/v1/erasures/{erasure_id}.
func (s *Server) GetErasure(ctx context.Context, req api.GetErasureRequestObject) (api.GetErasureResponseObject, error) {
	ctx = requestContext(ctx)
	id, err := agent.ParseJobID(req.ErasureID)
	if err != nil {
		return nil, badParameter("erasure_id", "must be 32 hex digits, not all zero")
	}
	r, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	e, err := r.Erasure(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil, newProblem(http.StatusNotFound, "there is no erasure under this id")
	}
	if err != nil {
		return nil, err
	}
	return api.GetErasure200JSONResponse(erasureOf(&e)), nil
}

func erasureOf(e *agent.Erasure) api.Erasure {
	out := api.Erasure{
		ID: e.ID.String(), Scope: api.ErasureScope(e.Scope.String()), Full: e.Full, Owner: e.Owner, Reason: e.Reason, Status: erasureStatus(e),
		RequestedAt: api.Timestamp(e.Requested), DoneAt: api.Timestamp(e.Done), Runs: e.Runs, UnitsOnHold: e.Waiting,
		Certificate: api.Certificate{SubjectSha256: hex.EncodeToString(e.SubjectDigest[:]), Removed: make([]api.Removal, 0, len(e.Removed))},
	}
	if e.Scope == agent.ScopeRun {
		out.RunID = e.Subject
	}
	if e.Event >= agent.ErasureResolved && e.Runs == 0 {
		out.Detail = "no run had this " + e.Scope.String() + ": nothing was erased"
	}
	for _, r := range e.Removed {
		out.Certificate.Removed = append(out.Certificate.Removed, api.Removal{
			At: api.Timestamp(r.At), Table: r.Table, Rows: r.Rows, Sha256: hex.EncodeToString(r.Digest[:]),
		})
	}
	return out
}

func erasureStatus(e *agent.Erasure) api.ErasureStatus {
	switch {
	case e.Event == agent.ErasureDone:
		return api.ErasureStatusDone
	case e.Event == agent.ErasureErased:
		return api.ErasureStatusRemovingFiles
	case e.Waiting > 0:
		return api.ErasureStatusWaitingForHold
	case e.Event == agent.ErasureResolved:
		return api.ErasureStatusRunning
	default:
		return api.ErasureStatusPending
	}
}
