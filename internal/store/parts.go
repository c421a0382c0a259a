package store

import (
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// The parts that several tables have in common.

// enum gives a column for an enum of the model, whose names are those of its
// String method. The numbers are kept in the tables: they must never change.
func enum[T interface {
	~uint8
	String() string
}]() *column.UInt8 {
	n := 1
	for T(n).String() != "" {
		n++
	}
	return column.NewEnum(n, func(i uint8) string { return T(i).String() })
}

var (
	recordedNames   = [...]string{agent.RecordedNot: "", agent.RecordedOpaque: "opaque", agent.RecordedYes: "yes"}
	visibilityNames = [...]string{agent.VisibleNone: "none", agent.VisibleSome: "some", agent.VisibleAll: "all"}
)

func recordedEnum() *column.UInt8 {
	return column.NewEnum(len(recordedNames), func(i uint8) string { return recordedNames[i] })
}

func visibilityEnum() *column.UInt8 {
	return column.NewEnum(len(visibilityNames), func(i uint8) string { return visibilityNames[i] })
}

// stringColumn is a column of strings, whatever way it keeps them.
type stringColumn interface {
	column.Column
	Append(v string)
	Row(i int) string
}

// contentColumns is an agent.Content.
type contentColumns struct {
	state       *column.UInt8
	digest, ref *column.Bytes16
	size        *column.Int64
}

func addContent(s *column.Set, prefix string) contentColumns {
	return contentColumns{
		state:  column.Add(s, prefix+"_state", recordedEnum()),
		digest: column.Add(s, prefix+"_digest", &column.Bytes16{}),
		ref:    column.Add(s, prefix+"_ref", &column.Bytes16{}),
		size:   column.Add(s, prefix+"_size", &column.Int64{}),
	}
}

func (c *contentColumns) append(v *agent.Content) {
	c.state.Append(uint8(v.State))
	c.digest.Append(v.Digest)
	c.ref.Append(v.Ref)
	c.size.Append(v.Size)
}

func (c *contentColumns) row(i int) agent.Content {
	return agent.Content{State: agent.Recorded(c.state.Row(i)), Digest: c.digest.Row(i), Ref: c.ref.Row(i), Size: c.size.Row(i)}
}

// tokenColumns is an agent.Tokens.
type tokenColumns struct {
	known                                           *column.Bool
	input, output, cacheRead, cacheWrite, reasoning *column.Int64
}

func addTokens(s *column.Set, prefix string) tokenColumns {
	return tokenColumns{
		known:      column.Add(s, prefix+"tokens_known", &column.Bool{}),
		input:      column.Add(s, prefix+"tokens_input", &column.Int64{}),
		output:     column.Add(s, prefix+"tokens_output", &column.Int64{}),
		cacheRead:  column.Add(s, prefix+"tokens_cache_read", &column.Int64{}),
		cacheWrite: column.Add(s, prefix+"tokens_cache_write", &column.Int64{}),
		reasoning:  column.Add(s, prefix+"tokens_reasoning", &column.Int64{}),
	}
}

func (c *tokenColumns) append(v *agent.Tokens) {
	c.known.Append(v.Known)
	c.input.Append(v.Input)
	c.output.Append(v.Output)
	c.cacheRead.Append(v.CacheRead)
	c.cacheWrite.Append(v.CacheWrite)
	c.reasoning.Append(v.Reasoning)
}

func (c *tokenColumns) row(i int) agent.Tokens {
	return agent.Tokens{
		Known: c.known.Row(i), Input: c.input.Row(i), Output: c.output.Row(i),
		CacheRead: c.cacheRead.Row(i), CacheWrite: c.cacheWrite.Row(i), Reasoning: c.reasoning.Row(i),
	}
}

func appendRefs(c *column.Array[*column.Bytes16], refs []agent.Ref) {
	for _, r := range refs {
		c.Elem.Append(r)
	}
	c.End()
}

func rowRefs(c *column.Array[*column.Bytes16], i int) []agent.Ref {
	lo, hi := c.Span(i)
	if lo == hi {
		return nil
	}
	refs := make([]agent.Ref, 0, hi-lo)
	for j := lo; j < hi; j++ {
		refs = append(refs, c.Elem.Row(j))
	}
	return refs
}

func appendDict[C stringColumn](c *column.Array[C], vals []string) {
	for _, v := range vals {
		c.Elem.Append(v)
	}
	c.End()
}

func rowDict[C stringColumn](c *column.Array[C], i int) []string {
	lo, hi := c.Span(i)
	if lo == hi {
		return nil
	}
	vals := make([]string, 0, hi-lo)
	for j := lo; j < hi; j++ {
		vals = append(vals, c.Elem.Row(j))
	}
	return vals
}
