package store

import (
	"reflect"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// The parts that several tables have in common.

// enum gives a column for an enum of the model.
func enum[T enumValue]() *column.UInt8 {
	var v T
	return column.NewEnum(enumTypes[reflect.TypeOf(v)])
}

type enumValue interface {
	~uint8
	String() string
}

// enumTypes are the types of the model's enums, whose names are those of their
// String methods. The numbers are kept in the tables: they must never change.
var enumTypes = map[reflect.Type]proto.ColumnType{
	reflect.TypeFor[agent.AttemptSource](): enumType[agent.AttemptSource](),
	reflect.TypeFor[agent.CostSource]():    enumType[agent.CostSource](),
	reflect.TypeFor[agent.Decision]():      enumType[agent.Decision](),
	reflect.TypeFor[agent.Effect]():        enumType[agent.Effect](),
	reflect.TypeFor[agent.ErasureEvent]():  enumType[agent.ErasureEvent](),
	reflect.TypeFor[agent.Gate]():          enumType[agent.Gate](),
	reflect.TypeFor[agent.HoldEvent]():     enumType[agent.HoldEvent](),
	reflect.TypeFor[agent.IDSource]():      enumType[agent.IDSource](),
	reflect.TypeFor[agent.KindSource]():    enumType[agent.KindSource](),
	reflect.TypeFor[agent.Kind]():          enumType[agent.Kind](),
	reflect.TypeFor[agent.OnUnknown]():     enumType[agent.OnUnknown](),
	reflect.TypeFor[agent.Op]():            enumType[agent.Op](),
	reflect.TypeFor[agent.Outcome]():       enumType[agent.Outcome](),
	reflect.TypeFor[agent.Role]():          enumType[agent.Role](),
	reflect.TypeFor[agent.RunOutcome]():    enumType[agent.RunOutcome](),
	reflect.TypeFor[agent.RunStatus]():     enumType[agent.RunStatus](),
	reflect.TypeFor[agent.Scope]():         enumType[agent.Scope](),
	reflect.TypeFor[agent.Settlement]():    enumType[agent.Settlement](),
	reflect.TypeFor[agent.Severity]():      enumType[agent.Severity](),
	reflect.TypeFor[agent.Sign]():          enumType[agent.Sign](),
	reflect.TypeFor[agent.Status]():        enumType[agent.Status](),
}

func enumType[T enumValue]() proto.ColumnType {
	names := []string{T(0).String()}
	for n := T(1); n.String() != ""; n++ {
		names = append(names, n.String())
	}
	return column.EnumType(names)
}

var (
	recordedType   = column.EnumType([]string{agent.RecordedNot: "", agent.RecordedOpaque: "opaque", agent.RecordedYes: "yes"})
	visibilityType = column.EnumType([]string{agent.VisibleNone: "none", agent.VisibleSome: "some", agent.VisibleAll: "all"})
	keyRoleType    = column.EnumType(keyRoleNames[:])
)

// stringColumn is a column of strings, whatever way it keeps them.
type stringColumn interface {
	column.Column
	Append(v string)
	AppendLike(i int, v string)
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
		state:  column.Add(s, prefix+"_state", column.NewEnum(recordedType)),
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
