package query

import (
	"context"
	"net/http"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// Field is a field by which runs are asked for and whose values are redacted
// before they are stored.
type Field string

// Values of Field.
const (
	FieldUser    Field = "user"
	FieldTarget  Field = "target"
	FieldSession Field = "session"
)

// Redaction does to what a request says what is done to the same on a span. It
// is safe for concurrent use.
type Redaction interface {
	// Stored gives how a value of the field is spelled where it is stored. It is
	// not ok where other values are spelled so as well.
	Stored(tenant string, field Field, value string) (spellings []string, ok bool)
	// Text gives what may be kept of a text that a person wrote. It is not ok
	// where that takes more work than is allowed.
	Text(tenant, text string) (kept string, ok bool)
}

// spelled gives the spellings under which a value may be stored: as it is stored
// today, and last as it was given, which rows may have that came under another
// policy. None for no value.
func (s *Server) spelled(ctx context.Context, field Field, value string) ([]string, error) {
	if value == "" || s.opts.Redaction == nil {
		return some(value), nil
	}
	out, ok := s.opts.Redaction.Stored(identityOf(ctx).Tenant, field, value)
	if !ok {
		p := badParameter(string(field), "is stored as a mask, which others are as well, so that its runs cannot be told from theirs; name runs by their ids")
		p.Status = http.StatusConflict
		return nil, p
	}
	if !slices.Contains(out, value) {
		out = append(slices.Clone(out), value)
	}
	return out, nil
}

func some(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// asStored has a selector name a user or target as the spans do. The name as it
// was given is kept only where spans have that, so that no job keeps what is
// redacted everywhere else.
func (s *Server) asStored(ctx context.Context, r Custodian, sel agent.Selector) (agent.Selector, error) {
	field := map[agent.Scope]Field{agent.ScopeUser: FieldUser, agent.ScopeTarget: FieldTarget}[sel.Scope]
	if field == "" {
		return sel, nil
	}
	all, err := s.spelled(ctx, field, sel.Subject)
	if err != nil || len(all) < 2 {
		return sel, err
	}
	given := sel
	there, err := r.Named(ctx, given)
	if sel.Subject = all[0]; there {
		sel.Also = given.Subject
	}
	return sel, err
}

// written gives what is kept of a text that a person wrote.
func (s *Server) written(ctx context.Context, name, text string) (string, error) {
	if s.opts.Redaction == nil || text == "" {
		return text, nil
	}
	kept, ok := s.opts.Redaction.Text(identityOf(ctx).Tenant, text)
	if !ok {
		return "", badParameter(name, "is too deeply nested to be redacted")
	}
	return kept, nil
}
