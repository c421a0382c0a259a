package store

import (
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// messageTable is the columns of the messages table: bodies by their hash.
type messageTable struct {
	column.Set
	tenant  *column.Dict
	unit    *column.String
	hash    *column.Bytes16
	expires *column.UInt32
	body    *column.String
}

func newMessageTable() *messageTable {
	t := &messageTable{}
	t.tenant = column.Add(&t.Set, "tenant", column.NewDict())
	t.unit = column.Add(&t.Set, "unit", column.NewString())
	t.hash = column.Add(&t.Set, "hash", &column.Bytes16{})
	t.expires = column.Add(&t.Set, "expires_at", column.NewDateTime())
	t.body = column.Add(&t.Set, "body", column.NewString())
	return t
}

func (t *messageTable) append(tenant, unit string, b *agent.Body) {
	t.tenant.Append(tenant)
	t.unit.Append(unit)
	t.hash.Append(b.Ref)
	t.expires.Append(seconds(b.Expires))
	t.body.Append(b.Text)
}

// factTable is the columns of the message_facts table.
type factTable struct {
	column.Set
	tenant     *column.Dict
	unit       *column.String
	hash       *column.Bytes16
	expires    *column.UInt32
	erased     *column.Bool
	role       *column.UInt8
	userText   *column.Bool
	textDigest *column.Bytes16

	callIDs                    *column.Array[*column.String]
	callTools                  *column.Array[*column.Dict]
	callContent                contentArrays
	callKinds, callKindSources *column.Array[*column.UInt8]
	callOutputs                *column.Array[*column.Bool]
	answerIDs                  *column.Array[*column.String]
	answerTools                *column.Array[*column.Dict]
	answerContent              contentArrays
	answerSigns                *column.Array[*column.UInt8]
}

// contentArrays is a list of agent.Content.
type contentArrays struct {
	states        *column.Array[*column.UInt8]
	digests, refs *column.Array[*column.Bytes16]
	sizes         *column.Array[*column.Int64]
}

func addContents(s *column.Set, prefix string) contentArrays {
	return contentArrays{
		states:  column.Add(s, prefix+"_states", column.NewArray(column.NewEnum(recordedType))),
		digests: column.Add(s, prefix+"_digests", column.NewArray(&column.Bytes16{})),
		refs:    column.Add(s, prefix+"_refs", column.NewArray(&column.Bytes16{})),
		sizes:   column.Add(s, prefix+"_sizes", column.NewArray(&column.Int64{})),
	}
}

func (c *contentArrays) append(v *agent.Content) {
	c.states.Elem.Append(uint8(v.State))
	c.digests.Elem.Append(v.Digest)
	c.refs.Elem.Append(v.Ref)
	c.sizes.Elem.Append(v.Size)
}

func (c *contentArrays) end() {
	c.states.End()
	c.digests.End()
	c.refs.End()
	c.sizes.End()
}

func (c *contentArrays) elem(j int) agent.Content {
	return agent.Content{
		State: agent.Recorded(c.states.Elem.Row(j)), Digest: c.digests.Elem.Row(j),
		Ref: c.refs.Elem.Row(j), Size: c.sizes.Elem.Row(j),
	}
}

func newFactTable() *factTable {
	t := &factTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.unit = column.Add(s, "unit", column.NewString())
	t.hash = column.Add(s, "hash", &column.Bytes16{})
	t.expires = column.Add(s, "expires_at", column.NewDateTime())
	t.erased = column.Add(s, "erased", &column.Bool{})
	t.role = column.Add(s, "role", enum[agent.Role]())
	t.userText = column.Add(s, "user_text", &column.Bool{})
	t.textDigest = column.Add(s, "text_digest", &column.Bytes16{})
	t.callIDs = column.Add(s, "call_ids", column.NewArray(column.NewString()))
	t.callTools = column.Add(s, "call_tools", column.NewArray(column.NewDict()))
	t.callContent = addContents(s, "call")
	t.callKinds = column.Add(s, "call_kinds", column.NewArray(enum[agent.Kind]()))
	t.callKindSources = column.Add(s, "call_kind_sources", column.NewArray(enum[agent.KindSource]()))
	t.callOutputs = column.Add(s, "call_output_functions", column.NewArray(&column.Bool{}))
	t.answerIDs = column.Add(s, "answer_ids", column.NewArray(column.NewString()))
	t.answerTools = column.Add(s, "answer_tools", column.NewArray(column.NewDict()))
	t.answerContent = addContents(s, "answer")
	t.answerSigns = column.Add(s, "answer_signs", column.NewArray(enum[agent.Sign]()))
	return t
}

func (t *factTable) append(tenant, unit string, expires int64, f *agent.MessageFacts) {
	t.tenant.Append(tenant)
	t.unit.Append(unit)
	t.hash.Append(f.Ref)
	t.expires.Append(seconds(expires))
	t.erased.Append(f.Erased)
	t.role.Append(uint8(f.Role))
	t.userText.Append(f.UserText)
	t.textDigest.Append(f.Text)
	for i := range f.Calls {
		c := &f.Calls[i]
		t.callIDs.Elem.Append(c.ID)
		t.callTools.Elem.Append(c.Tool)
		t.callContent.append(&c.Arguments)
		t.callKinds.Elem.Append(uint8(c.Kind))
		t.callKindSources.Elem.Append(uint8(c.KindSource))
		t.callOutputs.Elem.Append(c.OutputFunction)
	}
	t.callIDs.End()
	t.callTools.End()
	t.callContent.end()
	t.callKinds.End()
	t.callKindSources.End()
	t.callOutputs.End()
	for i := range f.Answers {
		a := &f.Answers[i]
		t.answerIDs.Elem.Append(a.ID)
		t.answerTools.Elem.Append(a.Tool)
		t.answerContent.append(&a.Result)
		t.answerSigns.Elem.Append(uint8(a.Sign))
	}
	t.answerIDs.End()
	t.answerTools.End()
	t.answerContent.end()
	t.answerSigns.End()
}

func (t *factTable) row(i int) *agent.MessageFacts {
	f := &agent.MessageFacts{
		Ref: t.hash.Row(i), Role: agent.Role(t.role.Row(i)), UserText: t.userText.Row(i), Text: t.textDigest.Row(i),
		Erased: t.erased.Row(i),
	}
	if lo, hi := t.callIDs.Span(i); hi > lo {
		f.Calls = make([]agent.RequestedCall, 0, hi-lo)
		for j := lo; j < hi; j++ {
			f.Calls = append(f.Calls, agent.RequestedCall{
				ID: t.callIDs.Elem.Row(j), Tool: t.callTools.Elem.Row(j), Arguments: t.callContent.elem(j),
				Kind: agent.Kind(t.callKinds.Elem.Row(j)), KindSource: agent.KindSource(t.callKindSources.Elem.Row(j)),
				OutputFunction: t.callOutputs.Elem.Row(j),
			})
		}
	}
	if lo, hi := t.answerIDs.Span(i); hi > lo {
		f.Answers = make([]agent.CallAnswer, 0, hi-lo)
		for j := lo; j < hi; j++ {
			f.Answers = append(f.Answers, agent.CallAnswer{
				ID: t.answerIDs.Elem.Row(j), Tool: t.answerTools.Elem.Row(j), Result: t.answerContent.elem(j),
				Sign: agent.Sign(t.answerSigns.Elem.Row(j)),
			})
		}
	}
	return f
}

// logTable is the columns of the log_content table.
type logTable struct {
	column.Set
	tenant   *column.Dict
	trace    *column.Bytes16
	span     *column.Bytes8
	position *column.Int32
	output   *column.Bool
	hash     *column.Bytes16
	unit     *column.String
	started  *column.Int64
	expires  *column.UInt32
	erased   *column.Bool
}

func newLogTable() *logTable {
	t := &logTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.trace = column.Add(s, "trace_id", &column.Bytes16{})
	t.span = column.Add(s, "span_id", &column.Bytes8{})
	t.position = column.Add(s, "position", &column.Int32{})
	t.output = column.Add(s, "output", &column.Bool{})
	t.hash = column.Add(s, "hash", &column.Bytes16{})
	t.unit = column.Add(s, "unit", column.NewString())
	t.started = column.Add(s, "started_at", column.NewTime())
	t.expires = column.Add(s, "expires_at", column.NewDateTime())
	t.erased = column.Add(s, "erased", &column.Bool{})
	return t
}

func (t *logTable) append(l *agent.LogContent, expires int64) {
	t.tenant.Append(l.Tenant)
	t.trace.Append(l.Trace)
	t.span.Append(l.Span)
	t.position.Append(l.Position)
	t.output.Append(l.Output)
	t.hash.Append(l.Message)
	t.unit.Append(l.Unit)
	t.started.Append(l.Start)
	t.expires.Append(seconds(expires))
	t.erased.Append(l.Erased)
}

func (t *logTable) row(i int) agent.LogContent {
	return agent.LogContent{
		Tenant: t.tenant.Row(i), Unit: t.unit.Row(i), Trace: t.trace.Row(i), Span: t.span.Row(i),
		Position: t.position.Row(i), Output: t.output.Row(i), Message: t.hash.Row(i), Start: t.started.Row(i),
		Erased: t.erased.Row(i),
	}
}
