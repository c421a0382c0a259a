package canon

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/cjson"
)

// Protector is what content analysis needs of redaction, for one tenant.
type Protector interface {
	// Content removes from a text, JSON or plain, what must not be kept. stored
	// may be kept; compared is the same text with keyed pseudonyms, for hashes;
	// replaced counts the values that were replaced. It is not ok where the text
	// takes more work than is allowed: then nothing of it may be kept.
	Content(raw string) (stored, compared string, replaced int, ok bool)
	// Hash is the keyed hash of a comparison form. Hashes of different domains
	// are never equal.
	Hash(d Domain, form []byte) agent.Digest
}

// Domain says what a comparison form is a form of.
type Domain string

// The domains.
const (
	DomainArguments Domain = "args"    // a call's arguments
	DomainResult    Domain = "result"  // a result
	DomainText      Domain = "text"    // the text of a message
	DomainMessage   Domain = "message" // a message
	DomainInput     Domain = "input"   // all messages that went into a model call
	DomainOutput    Domain = "output"  // all messages that came out of it
	DomainSent      Domain = "sent"    // the SHA-256 of arguments or a result as sent
)

// Analyzer takes the content of a span apart before anything of it is kept:
// it protects each message, argument and result, cuts what is too large, and
// makes references, facts and comparison hashes.
//
//	Begin → Messages, Arguments, Result per attribute → Attach to the record
//
// Messages that came before, as the history of a conversation does with every
// call, are taken from a bounded cache. An Analyzer is not safe for concurrent
// use.
type Analyzer struct {
	// MaxBody is the most bytes that one body keeps.
	MaxBody int
	// Classify says what the policy makes of a tool that a model asked for: kind
	// and source, both unset where it says nothing. Nil: nothing is said.
	Classify func(tool string) (agent.Kind, agent.KindSource)

	protect Protector
	tenant  string
	start   int64
	x       extractor
	cache   cache

	found     [contentSlots][]found
	facts     []*message // distinct, in order of their first place
	args, res call
	form      []byte
	sum       []byte
	callFacts agent.CallFacts
	markForm  []byte

	// Of the current span.
	Replaced int // values that redaction replaced
	Refused  int // bodies that redaction refused
	Cut      []CutBody
}

// CutBody says what was cut: the attribute, its full size in bytes, and its
// SHA-256 after redaction.
type CutBody struct {
	Key  string
	Size int
	Hash [32]byte
}

// message is what is known of one message text.
type message struct {
	facts    *agent.MessageFacts // owns its memory and never changes
	hash     [32]byte            // of the body as stored; see salt
	form     agent.Digest
	stored   string // the body as stored, where it differs from the text as sent
	changed  bool
	replaced int
	refused  bool
	cut      bool
	size     int
	full     [32]byte // of the whole body, where it was cut
	span     uint64   // number of the span it was counted in last
	index    int      // its place among that span's facts
}

// found is a message at its place in an attribute.
type found struct {
	m          *message
	start, end int
}

// NewAnalyzer makes an Analyzer whose cache holds about so many bytes.
func NewAnalyzer(maxBody, cacheBytes int) *Analyzer {
	return &Analyzer{MaxBody: maxBody, cache: newCache(cacheBytes)}
}

// Begin starts a span. start is its beginning in Unix nanoseconds.
func (a *Analyzer) Begin(tenant string, p Protector, start int64) {
	a.protect, a.tenant, a.start = p, tenant, start
	a.x.hash = p.Hash
	for i := range a.found {
		a.found[i] = a.found[i][:0]
	}
	clear(a.facts)
	a.facts = a.facts[:0]
	a.args, a.res = call{}, call{}
	a.Replaced, a.Refused = 0, 0
	a.Cut = a.Cut[:0]
	a.cache.span++
}

// SystemInstructions takes the text of gen_ai.system_instructions and returns
// what may be kept in its place. They are one body.
func (a *Analyzer) SystemInstructions(raw string) string {
	return a.one(slotSystem, raw, agent.RoleSystem)
}

// InputMessages takes the text of gen_ai.input.messages, a list of messages,
// and returns what may be kept in its place.
func (a *Analyzer) InputMessages(raw string) string {
	return a.list(slotInput, raw, agent.RoleUser)
}

// OutputMessages does the same for gen_ai.output.messages.
func (a *Analyzer) OutputMessages(raw string) string {
	return a.list(slotOutput, raw, agent.RoleAssistant)
}

// maxMessages is the most messages that one attribute is taken apart into. No
// model takes so many; a list with more is one body.
const maxMessages = 8192

// list takes a list of messages apart. A text that is none is one body.
func (a *Analyzer) list(s slot, raw string, role agent.Role) string {
	if raw == "" {
		return ""
	}
	places := a.found[s][:0]
	sc := cjson.Scan(raw)
	if sc.Kind() != cjson.KindArray {
		return a.one(s, raw, role)
	}
	pos := 0
	for sc.Array(); sc.Next() && len(places) <= maxMessages; {
		m := sc.Raw()
		at := pos + strings.Index(raw[pos:], m) // m is a slice of raw from pos on
		pos = at + len(m)
		places = append(places, found{start: at, end: pos})
	}
	if len(places) > maxMessages || !sc.End() {
		return a.one(s, raw, role)
	}
	changed := false
	for i := range places {
		p := &places[i]
		p.m = a.message(raw[p.start:p.end], role)
		changed = changed || p.m.changed
		if p.m.cut {
			a.Cut = append(a.Cut, CutBody{Key: slotNames[s] + "[" + strconv.Itoa(i) + "]", Size: p.m.size, Hash: p.m.full})
		}
	}
	a.found[s] = places
	if !changed {
		return raw
	}
	return a.rewrite(raw, places)
}

// rewrite puts the stored messages in the place of those sent.
func (a *Analyzer) rewrite(raw string, places []found) string {
	var b strings.Builder
	n := len(raw)
	for _, p := range places {
		if p.m.changed {
			n += len(p.m.stored) - (p.end - p.start)
		}
	}
	b.Grow(n)
	last := 0
	for i := range places {
		p := &places[i]
		b.WriteString(raw[last:p.start])
		last = p.end
		from := b.Len()
		if p.m.changed {
			b.WriteString(p.m.stored)
		} else {
			b.WriteString(raw[p.start:p.end])
		}
		p.start, p.end = from, b.Len()
	}
	b.WriteString(raw[last:])
	return b.String()
}

// one takes an attribute that is a single body.
func (a *Analyzer) one(s slot, raw string, role agent.Role) string {
	if raw == "" {
		return ""
	}
	m := a.message(raw, role)
	if m.cut {
		a.Cut = append(a.Cut, CutBody{Key: slotNames[s], Size: m.size, Hash: m.full})
	}
	text := raw
	if m.changed {
		text = m.stored
	}
	a.found[s] = append(a.found[s][:0], found{m: m, start: 0, end: len(text)})
	return text
}

// message gives what is known of a message, from the cache if it came before.
func (a *Analyzer) message(raw string, role agent.Role) *message {
	m := a.cache.get(a.tenant, role, raw)
	if m == nil {
		m = a.analyze(raw, role)
		a.cache.put(a.tenant, role, raw, m)
	}
	if m.span != a.cache.span {
		m.span, m.index = a.cache.span, a.count(m)
	}
	a.Replaced += m.replaced
	if m.refused {
		a.Refused++
	}
	return m
}

// count gives the place of a message among the facts of the span: that of one
// with the same body where there is one, among the first.
func (a *Analyzer) count(m *message) int {
	for i, o := range a.facts[:min(len(a.facts), 64)] {
		if o.hash == m.hash {
			return i
		}
	}
	a.facts = append(a.facts, m)
	return len(a.facts) - 1
}

func (a *Analyzer) analyze(raw string, role agent.Role) *message {
	m := &message{size: len(raw), facts: new(agent.MessageFacts)}
	stored, compared, replaced, ok := a.protect.Content(raw)
	m.replaced = replaced
	if !ok {
		m.refused, m.changed = true, true
		m.facts.Role = role
		m.stored = refusedBody(len(raw))
		a.seal(m, m.stored)
		return m
	}
	m.size = len(stored)
	a.read(m, raw, compared, role)
	body := stored
	if len(stored) > a.MaxBody {
		m.cut = true
		m.full = sha256.Sum256([]byte(stored))
		body = cutBody(stored, a.MaxBody, m.full, m.facts.Role)
	}
	if body != raw {
		m.changed, m.stored = true, strings.Clone(body)
	}
	a.seal(m, body)
	if stored != compared {
		a.salt(m, compared)
	}
	return m
}

// read fills facts and comparison hash. Ids and names are those that were sent:
// redaction must not touch what ties spans together.
func (a *Analyzer) read(m *message, raw, compared string, role agent.Role) {
	if !a.x.message(compared, role) {
		a.x.reset()
		a.x.role = role
		if !a.instructions(compared, role) {
			// No JSON: a plain text, or JSON that was cut off.
			a.x.say(compared)
			a.x.unclear = compared[0] == '{' || compared[0] == '['
		}
	}
	*m.facts = a.x.facts()
	a.classify(m.facts.Calls)
	if a.x.unclear || cjson.IsPlaceholder(raw) {
		m.facts.Text = agent.Digest{}
	} else {
		m.form = a.protect.Hash(DomainMessage, a.x.form)
	}
	if compared != raw && len(m.facts.Calls)+len(m.facts.Answers) > 0 && a.x.message(raw, role) {
		restore(m.facts, &a.x)
		a.classify(m.facts.Calls)
	}
}

func (a *Analyzer) classify(calls []agent.RequestedCall) {
	if a.Classify == nil {
		return
	}
	for i := range calls {
		calls[i].Kind, calls[i].KindSource = a.Classify(calls[i].Tool)
	}
}

// instructions reads a list of parts without a message around it, or a JSON
// string.
func (a *Analyzer) instructions(text string, role agent.Role) bool {
	sc := cjson.Scan(text)
	if k := sc.Kind(); k != cjson.KindArray && k != cjson.KindString || !cjson.Valid(text) {
		return false
	}
	a.x.form = append(a.x.form, byte('0'+role))
	a.x.parts(text)
	a.x.form = append(a.x.form, markEnd)
	return true
}

func restore(m *agent.MessageFacts, x *extractor) {
	if len(m.Calls) == len(x.calls) {
		for i := range m.Calls {
			m.Calls[i].ID, m.Calls[i].Tool = clone(x.calls[i].ID), clone(x.calls[i].Tool)
		}
	}
	if len(m.Answers) == len(x.answers) {
		for i := range m.Answers {
			m.Answers[i].ID, m.Answers[i].Tool = clone(x.answers[i].ID), clone(x.answers[i].Tool)
		}
	}
}

// seal gives a message the reference of its body.
func (a *Analyzer) seal(m *message, body string) {
	a.sum = append(a.sum[:0], body...)
	m.hash = sha256.Sum256(a.sum)
	copy(m.facts.Ref[:], m.hash[:])
}

// salt keeps apart messages that are stored alike because what differs in them
// was masked: their facts differ, so their references must. The keyed hash that
// goes in tells nothing about what was hidden.
func (a *Analyzer) salt(m *message, compared string) {
	a.form = append(a.form[:0], compared...)
	d := a.protect.Hash(DomainMessage, a.form)
	a.sum = append(a.sum, d[:]...)
	m.hash = sha256.Sum256(a.sum)
	copy(m.facts.Ref[:], m.hash[:])
}

// Attach gives a record what was found: references, facts, bodies, digests.
// expires is when the bodies expire, in Unix seconds.
func (a *Analyzer) Attach(rec *Record) {
	s := &rec.Step
	s.Call.Arguments, s.Call.Result = a.args.content, a.res.content
	s.Call.ArgumentsSent = a.args.sent
	for _, m := range a.facts {
		rec.Facts = append(rec.Facts, *m.facts)
	}
	for i := range a.found {
		for _, f := range a.found[i] {
			rec.layout.segments[i] = append(rec.layout.segments[i], segment{start: f.start, end: f.end, fact: f.m.index})
		}
	}
	rec.refer()
	s.Model.Input = a.joint(DomainInput, slotInput, slotSystem)
	s.Model.Output = a.joint(DomainOutput, slotOutput)
	if s.Model.ContextHash.IsZero() && len(s.Model.Context) > 0 {
		s.Model.ContextHash = a.context()
	}
}

// EachFact calls f for the facts of each message of the span. They own their
// memory and never change, so they may be kept.
func (a *Analyzer) EachFact(f func(*agent.MessageFacts)) {
	for _, m := range a.facts {
		f(m.facts)
	}
}

// Bodies fills in the record's bodies, once the step's terms are known.
func (a *Analyzer) Bodies(rec *Record) { rec.bodies() }

// joint is the comparison hash of the messages of some slots; zero where there
// are none, or one of them is not comparable.
func (a *Analyzer) joint(d Domain, slots ...slot) agent.Digest {
	if len(a.found[slots[0]]) == 0 {
		return agent.Digest{}
	}
	a.form = a.form[:0]
	for _, s := range slots {
		for _, f := range a.found[s] {
			if f.m.form.IsZero() {
				return agent.Digest{}
			}
			a.form = append(a.form, f.m.form[:]...)
		}
		a.form = append(a.form, markEnd)
	}
	return a.protect.Hash(d, a.form)
}

// context is the SHA-256 over the SHA-256 of each body that the model saw, the
// system instructions first.
func (a *Analyzer) context() agent.Hash {
	a.form = a.form[:0]
	for _, s := range [...]slot{slotSystem, slotInput} {
		for _, f := range a.found[s] {
			a.form = append(a.form, f.m.hash[:]...)
		}
	}
	return sha256.Sum256(a.form)
}

func clone(s string) string { return strings.Clone(s) }
