package store

import (
	"context"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
)

// betweenSpellings stands in a column subject between the two spellings of one
// subject. A selector holds none.
const betweenSpellings = "\x00"

func subjectText(sel agent.Selector) string {
	if sel.Also == "" {
		return sel.Subject
	}
	return sel.Subject + betweenSpellings + sel.Also
}

func subjectOf(column string) (subject, also string) {
	subject, also, _ = strings.Cut(column, betweenSpellings)
	return subject, also
}

func spellings(sel agent.Selector) []string {
	if sel.Also == "" {
		return []string{sel.Subject}
	}
	return []string{sel.Subject, sel.Also}
}

// Named reports whether a span that is stored may be meant by the selector.
func (r *Reader) Named(ctx context.Context, sel agent.Selector) (bool, error) {
	units, err := r.store.UnitsMatching(ctx, r.tenant, sel, 0)
	return len(units) > 0, err
}
