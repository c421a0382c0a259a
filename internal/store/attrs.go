package store

import (
	"math"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// appendAttrs adds a row to a map, and the places of the values that are JSON
// and no text.
func appendAttrs[C stringColumn](m *column.Map[C], places *column.Array[*column.UInt16], attrs []agent.Attr) {
	// Spans of one resource, and of one kind, have the same attributes in the
	// same order: look at the row before first.
	var lo, hi int
	if n := m.Rows(); n > 0 {
		lo, hi = m.Span(n - 1)
	}
	for i := range attrs {
		a := &attrs[i]
		if lo+i < hi {
			m.Keys.AppendLike(lo+i, a.Key)
			m.Vals.AppendLike(lo+i, a.Value)
		} else {
			m.Keys.Append(a.Key)
			m.Vals.Append(a.Value)
		}
		if a.JSON && i <= math.MaxUint16 {
			places.Elem.Append(uint16(i)) // checked
		}
	}
	m.End()
	places.End()
}

func rowAttrs[C stringColumn](m *column.Map[C], places *column.Array[*column.UInt16], i int) []agent.Attr {
	lo, hi := m.Span(i)
	if lo == hi {
		return nil
	}
	attrs := make([]agent.Attr, 0, hi-lo)
	for j := lo; j < hi; j++ {
		attrs = append(attrs, agent.Attr{Key: m.Keys.Row(j), Value: m.Vals.Row(j)})
	}
	for j, end := places.Span(i); j < end; j++ {
		if at := int(places.Elem.Row(j)); at < len(attrs) {
			attrs[at].JSON = true
		}
	}
	return attrs
}
