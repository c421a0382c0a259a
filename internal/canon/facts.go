package canon

import (
	"github.com/cespare/xxhash/v2"

	"github.com/steptrail/steptrail/internal/agent"
)

// factsVersion is the first byte of agent.facts. A reader that meets another
// one treats the span as one without facts.
const factsVersion = 1

// flags of the facts, in one number.
const (
	flagRepeatable uint64 = 1 << iota
	flagApproval
	flagForbidden
	flagOutputFunction
	flagWeakRun
	flagContextHash
	flagInput
	flagOutput
	flagArgumentsSent
	flagResultSent
)

// appendFacts encodes what no attribute of the record's span says.
func appendFacts(dst []byte, rec *Record) []byte {
	s, st := &rec.Step, &rec.stated
	w := writer{b: dst}
	w.byte(factsVersion)
	w.uint(factFlags(rec))
	w.str(s.Dialect)
	w.raw([]byte{byte(s.Op), byte(s.Kind), byte(s.KindSource), byte(s.Sign), byte(st.Effect)})
	w.str(s.DialectRun)
	w.str(s.DialectStep)
	w.str(s.Checkpoint)
	w.str(st.HandoffTo)
	w.int(s.Received)
	w.int(s.Expires)
	w.int(s.ContentExpires)
	w.byte(byte(s.Model.CostSource))
	w.int(s.Model.CostNano)
	w.strs(s.Call.ReconcileWith)
	w.strs(s.Rules)
	w.str(s.Facts)
	w.content(&s.Call.Arguments)
	w.content(&s.Call.Result)
	w.digest(s.Call.ArgumentsSent)
	w.digest(s.Call.ResultSent)
	if !s.Model.ContextHash.IsZero() {
		w.raw(s.Model.ContextHash[:])
	}
	w.digest(s.Model.Input)
	w.digest(s.Model.Output)
	w.fixed64(rec.checksum())
	w.uint(uint64(len(rec.Facts)))
	for i := range rec.Facts {
		w.messageFacts(&rec.Facts[i])
	}
	for _, segments := range rec.layout.segments {
		w.uint(uint64(len(segments)))
		end := 0
		for _, g := range segments {
			w.uint(uint64(g.start - end))
			w.uint(uint64(g.end - g.start))
			w.uint(uint64(g.fact))
			end = g.end
		}
	}
	return w.b
}

func factFlags(rec *Record) uint64 {
	s := &rec.Step
	var f uint64
	set := func(on bool, flag uint64) {
		if on {
			f |= flag
		}
	}
	set(s.Call.Repeatable, flagRepeatable)
	set(s.Call.Approval, flagApproval)
	set(s.Call.Forbidden, flagForbidden)
	set(s.Call.OutputFunction, flagOutputFunction)
	set(s.DialectRunWeak, flagWeakRun)
	set(!s.Model.ContextHash.IsZero(), flagContextHash)
	set(!s.Model.Input.IsZero(), flagInput)
	set(!s.Model.Output.IsZero(), flagOutput)
	set(!s.Call.ArgumentsSent.IsZero(), flagArgumentsSent)
	set(!s.Call.ResultSent.IsZero(), flagResultSent)
	return f
}

// checksum is over the content attributes, so that a reader notices when
// somebody changed them on the way and the bodies no longer lie where they did.
func (r *Record) checksum() uint64 {
	sum := xxhash.Sum64String(r.arguments)
	sum = sum*31 + xxhash.Sum64String(r.result)
	for _, c := range r.content {
		sum = sum*31 + xxhash.Sum64String(c)
	}
	return sum
}

func (w *writer) digest(d agent.Digest) {
	if !d.IsZero() {
		w.raw(d[:])
	}
}

func (w *writer) content(c *agent.Content) {
	state := byte(c.State)
	if !c.Ref.IsZero() {
		state |= 0x10
	}
	w.byte(state)
	if c.State == agent.RecordedYes {
		w.raw(c.Digest[:])
	}
	if !c.Ref.IsZero() {
		w.raw(c.Ref[:])
	}
	w.int(c.Size)
}

// bits of a message's head byte; the role stands in the lowest four.
const (
	messageUserText = 0x10
	messageHasText  = 0x20
)

func (w *writer) messageFacts(m *agent.MessageFacts) {
	w.raw(m.Ref[:])
	head := byte(m.Role)
	if m.UserText {
		head |= messageUserText
	}
	if !m.Text.IsZero() {
		head |= messageHasText
	}
	w.byte(head)
	w.digest(m.Text)
	w.uint(uint64(len(m.Calls)))
	for i := range m.Calls {
		c := &m.Calls[i]
		w.str(c.ID)
		w.str(c.Tool)
		w.content(&c.Arguments)
		w.raw([]byte{byte(c.Kind), byte(c.KindSource)})
		w.bool(c.OutputFunction)
	}
	w.uint(uint64(len(m.Answers)))
	for i := range m.Answers {
		a := &m.Answers[i]
		w.str(a.ID)
		w.str(a.Tool)
		w.content(&a.Result)
		w.byte(byte(a.Sign))
	}
}

func (w *writer) bool(v bool) {
	if v {
		w.byte(1)
		return
	}
	w.byte(0)
}

// decodeFacts fills the record from the facts that attributes found, and
// reports whether they could be read. Of facts that cannot be read nothing is
// taken.
func (r *Reader) decodeFacts() bool {
	p := parser{b: r.facts}
	if len(p.b) == 0 || p.byte() != factsVersion {
		return false
	}
	saved := r.rec.Step
	if p.record(&r.rec); p.bad {
		r.rec.Step = saved
		r.rec.stated.Reset()
		r.rec.Facts = r.rec.Facts[:0]
		r.rec.layout.reset()
		return false
	}
	r.rest = p.b
	return true
}

func (p *parser) record(rec *Record) {
	s, st := &rec.Step, &rec.stated
	f := p.uint()
	has := func(flag uint64) bool { return f&flag != 0 }
	s.Call.Repeatable, s.Call.Approval, s.Call.Forbidden = has(flagRepeatable), has(flagApproval), has(flagForbidden)
	st.OutputFunction, st.DialectRunWeak = has(flagOutputFunction), has(flagWeakRun)
	st.Dialect = p.str()
	st.Op = agent.Op(p.byte())
	s.Kind, s.KindSource = agent.Kind(p.byte()), agent.KindSource(p.byte())
	s.Sign = agent.Sign(p.byte())
	st.Effect = agent.Effect(p.byte())
	st.DialectRun, st.DialectStep, st.Checkpoint, st.HandoffTo = p.str(), p.str(), p.str(), p.str()
	s.Received, s.Expires, s.ContentExpires = p.int(), p.int(), p.int()
	s.Model.CostSource = agent.CostSource(p.byte())
	s.Model.CostNano = p.int()
	s.Call.ReconcileWith = p.strs(s.Call.ReconcileWith)
	s.Rules = p.strs(s.Rules)
	s.Facts = p.str()
	s.Call.Arguments, s.Call.Result = p.content(), p.content()
	s.Call.ArgumentsSent, s.Call.ResultSent = p.digest(has(flagArgumentsSent)), p.digest(has(flagResultSent))
	if has(flagContextHash) {
		p.raw(s.Model.ContextHash[:])
	}
	s.Model.Input, s.Model.Output = p.digest(has(flagInput)), p.digest(has(flagOutput))
	rec.sum = p.fixed64()
	for range p.count(19) {
		rec.Facts = append(rec.Facts, p.messageFacts())
	}
	for i := range rec.layout.segments {
		end := 0
		for range p.count(3) {
			start := end + int(p.uint()&maxOffset) // masked
			end = start + int(p.uint()&maxOffset)  // masked
			fact := int(p.uint() & maxOffset)      // masked
			if fact >= len(rec.Facts) || end > maxOffset {
				p.fail()
				return
			}
			rec.layout.segments[i] = append(rec.layout.segments[i], segment{start: start, end: end, fact: fact})
		}
	}
	p.enums(rec)
}

// maxOffset bounds a place in an attribute; no OTLP message is larger.
const maxOffset = 1<<31 - 1

// enums fails on values that no enum has.
func (p *parser) enums(rec *Record) {
	s, st := &rec.Step, &rec.stated
	if st.Op > agent.OpHTTP || s.Kind > agent.KindOther || s.KindSource > agent.KindSourceDefault ||
		s.Sign > agent.SignReceipt || st.Effect > agent.EffectDestructive || s.Model.CostSource > agent.CostSourceComputed {
		p.fail()
	}
}

func (p *parser) digest(there bool) (d agent.Digest) {
	if there {
		p.raw(d[:])
	}
	return d
}

func (p *parser) content() (c agent.Content) {
	state := p.byte()
	c.State = agent.Recorded(state & 0x0f)
	if c.State > agent.RecordedYes {
		p.fail()
		return agent.Content{}
	}
	if c.State == agent.RecordedYes {
		p.raw(c.Digest[:])
	}
	if state&0x10 != 0 {
		p.raw(c.Ref[:])
	}
	c.Size = p.int()
	return c
}

func (p *parser) messageFacts() (m agent.MessageFacts) {
	p.raw(m.Ref[:])
	head := p.byte()
	m.Role = agent.Role(head & 0x0f)
	m.UserText = head&messageUserText != 0
	m.Text = p.digest(head&messageHasText != 0)
	if n := p.count(7); n > 0 {
		m.Calls = make([]agent.RequestedCall, n)
		for i := range m.Calls {
			m.Calls[i] = agent.RequestedCall{
				ID: p.str(), Tool: p.str(), Arguments: p.content(),
				Kind: agent.Kind(p.byte()), KindSource: agent.KindSource(p.byte()), OutputFunction: p.byte() == 1,
			}
		}
	}
	if n := p.count(5); n > 0 {
		m.Answers = make([]agent.CallAnswer, n)
		for i := range m.Answers {
			m.Answers[i] = agent.CallAnswer{ID: p.str(), Tool: p.str(), Result: p.content(), Sign: agent.Sign(p.byte())}
		}
	}
	return m
}

// place cuts the bodies out of the content attributes and refers to them. Where
// the attributes are no longer what they were, the references stay and no body
// is given.
func (r *Reader) place() {
	rec := &r.rec
	rec.refer()
	if rec.sum != rec.checksum() {
		return
	}
	rec.bodies()
}

// refer fills the step's references to messages from the layout.
func (r *Record) refer() {
	m := &r.Step.Model
	for i, segments := range r.layout.segments {
		for _, g := range segments {
			if slot(i) == slotOutput { // three slots
				m.Outputs = append(m.Outputs, r.Facts[g.fact].Ref)
			} else {
				m.Context = append(m.Context, r.Facts[g.fact].Ref)
			}
		}
	}
}

// bodies fills Bodies: each message at its first place, then arguments and
// result.
func (r *Record) bodies() {
	expires := r.Step.ContentExpires
	r.placed = append(r.placed[:0], make([]bool, len(r.Facts))...)
	for i, segments := range r.layout.segments {
		for _, g := range segments {
			if r.placed[g.fact] || g.end > len(r.content[i]) {
				continue
			}
			r.placed[g.fact] = true
			r.Bodies = append(r.Bodies, agent.Body{Ref: r.Facts[g.fact].Ref, Text: r.content[i][g.start:g.end], Expires: expires})
		}
	}
	c := &r.Step.Call
	if !c.Arguments.Ref.IsZero() {
		r.Bodies = append(r.Bodies, agent.Body{Ref: c.Arguments.Ref, Text: r.arguments, Expires: expires})
	}
	if !c.Result.Ref.IsZero() && c.Result.Ref != c.Arguments.Ref {
		r.Bodies = append(r.Bodies, agent.Body{Ref: c.Result.Ref, Text: r.result, Expires: expires})
	}
}
