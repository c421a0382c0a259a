package agentstepprocessor

import (
	"crypto/sha256"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// protector is redaction for one tenant.
type protector interface {
	canon.Protector
	// Text is what may be kept of a text under a key, and how many values were
	// replaced. It is not ok where the text takes more work than is allowed.
	Text(key, s string) (kept string, replaced int, ok bool)
	// Secret reports whether a JSON key or attribute name names what must go.
	Secret(name string) bool
	// Named is Text for the value of such a name: nothing of it is kept.
	Named(name, value string) (kept string, replaced int, ok bool)
	// Key and Target are what may be kept of an idempotency key and of a target.
	Key(s string) (string, bool)
	Target(s string) (string, bool)
}

// maxDepth bounds how deep structured values are looked into; what lies deeper
// is removed.
const maxDepth = 96

// guard is the first thing that happens to the content of a group of attributes:
// what must not be kept goes, what is too large is cut, and all that is left is
// valid UTF-8.
type guard struct {
	protect  protector
	maxValue int
	maxCount int

	replaced int // values replaced
	refused  int // values dropped because redaction refused them, or attributes of a value
	cut      []canon.CutBody
	clean    map[string]struct{} // names of attributes in which nothing was found
	size     int                 // of the structured value that is looked through, about
}

func (g *guard) reset() {
	g.replaced, g.refused = 0, 0
	g.cut = g.cut[:0]
}

// name protects a span's name, a status message and the like.
func (g *guard) name(key, s string) string {
	if s == "" {
		return s
	}
	return g.text(key, s)
}

// text gives what may be kept of a text that came under a key.
func (g *guard) text(key, s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, string(utf8.RuneError))
	}
	kept, replaced, ok := g.protect.Text(key, s)
	g.replaced += replaced
	if !ok {
		g.refused++
		return refusedText
	}
	if len(kept) > g.maxValue {
		g.cut = append(g.cut, canon.CutBody{Key: key, Size: len(kept), Hash: sha256.Sum256([]byte(kept))})
		kept = canon.Cut(kept, g.maxValue)
	}
	return kept
}

// attribute protects one value in place.
func (g *guard) attribute(key string, v pcommon.Value) {
	if g.protect.Secret(key) {
		g.secret(key, v)
		return
	}
	g.size = 0
	g.value(key, v, 0)
	if t := v.Type(); g.size > g.maxValue && (t == pcommon.ValueTypeMap || t == pcommon.ValueTypeSlice) {
		g.cutStructured(key, v)
	}
}

// cutStructured puts the beginning of its JSON in the place of a structured value
// whose parts, each small enough, are too large together.
func (g *guard) cutStructured(key string, v pcommon.Value) {
	text := canon.AppendJSON(nil, v)
	if len(text) <= g.maxValue {
		return
	}
	g.cut = append(g.cut, canon.CutBody{Key: key, Size: len(text), Hash: sha256.Sum256(text)})
	v.SetStr(canon.Cut(string(text), g.maxValue))
}

// secret removes the whole of a value, whatever it is.
func (g *guard) secret(key string, v pcommon.Value) {
	value := ""
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return
	case pcommon.ValueTypeStr:
		value = v.Str()
	default:
		value = string(canon.AppendJSON(nil, v))
	}
	kept, replaced, ok := g.protect.Named(key, value)
	if !ok {
		g.refused++
		kept = refusedText
	}
	g.replaced += replaced
	v.SetStr(kept)
}

// refusedText stands for a value that redaction refused to look through.
const refusedText = "[dropped: redaction limit]"

func (g *guard) value(key string, v pcommon.Value, depth int) {
	g.size += 4
	switch v.Type() {
	case pcommon.ValueTypeStr:
		s := v.Str()
		kept := g.text(key, s)
		if kept != s {
			v.SetStr(kept)
		}
		g.size += len(kept)
	case pcommon.ValueTypeMap:
		if depth >= maxDepth {
			v.SetStr("[dropped: nested too deep]")
			g.refused++
			return
		}
		g.nested(key, v.Map(), depth)
	case pcommon.ValueTypeSlice:
		if depth >= maxDepth {
			v.SetStr("[dropped: nested too deep]")
			g.refused++
			return
		}
		for _, e := range v.Slice().All() {
			g.value(key, e, depth+1)
		}
	case pcommon.ValueTypeBytes:
		if b := v.Bytes(); b.Len() > g.maxValue {
			raw := b.AsRaw()
			g.cut = append(g.cut, canon.CutBody{Key: key, Size: len(raw), Hash: sha256.Sum256(raw)})
			b.FromRaw(raw[:g.maxValue])
		}
		g.bytes(key, v)
		g.size += v.Bytes().Len()
	case pcommon.ValueTypeInt:
		if n := v.Int(); n >= minNumber || n <= -minNumber {
			g.number(key, v, strconv.FormatInt(n, 10))
		}
	case pcommon.ValueTypeDouble:
		if f := v.Double(); math.Abs(f) >= minNumber && f == math.Trunc(f) && math.Abs(f) < 1e20 {
			g.number(key, v, strconv.FormatFloat(f, 'f', -1, 64))
		}
	}
}

// minNumber is the least number that can be a telephone number or a card.
const minNumber = 1e7

// number puts a text in the place of a number in which something is found.
func (g *guard) number(key string, v pcommon.Value, digits string) {
	if kept := g.text(key, digits); kept != digits {
		v.SetStr(kept)
	}
}

// bytes protects bytes as the text that they may be.
func (g *guard) bytes(key string, v pcommon.Value) {
	raw := string(v.Bytes().AsRaw())
	kept, replaced, ok := g.protect.Text(key, raw)
	g.replaced += replaced
	if !ok {
		g.refused++
		kept = refusedText
	}
	if kept != raw {
		v.Bytes().FromRaw([]byte(kept))
	}
}

func (g *guard) nested(key string, m pcommon.Map, depth int) {
	good := true
	for k, e := range m.All() {
		good = good && g.goodKey(k)
		g.size += len(k)
		if g.protect.Secret(k) {
			g.secret(k, e)
			continue
		}
		g.value(key, e, depth+1)
	}
	if !good {
		g.refused += g.limit(m)
		g.keys(m)
	}
}

// group protects all attributes of a resource, scope, event, link or log record
// and returns how many were left out for their number.
func (g *guard) group(m pcommon.Map) int {
	good := true
	for k, v := range m.All() {
		good = good && g.goodKey(k)
		g.attribute(k, v)
	}
	removed := g.limit(m)
	if !good {
		g.keys(m)
	}
	return removed
}

// limit removes attributes beyond the allowed number, the last ones first, but
// none that the canonical form reads. It returns how many.
func (g *guard) limit(m pcommon.Map) int {
	if m.Len() <= g.maxCount {
		return 0
	}
	others, removed := 0, 0
	m.RemoveIf(func(k string, _ pcommon.Value) bool {
		if canon.Reads(k) {
			return false
		}
		if others++; others > g.maxCount {
			removed++
			return true
		}
		return false
	})
	return removed
}

// maxClean bounds the names that are remembered.
const maxClean = 4096

// goodKey tells whether the name of an attribute may stay as it is. Names are few,
// so what was found of one is remembered.
func (g *guard) goodKey(k string) bool {
	if _, ok := g.clean[k]; ok {
		return true
	}
	if len(k) > maxID || !utf8.ValidString(k) {
		return false
	}
	kept, _, ok := g.protect.Text("", k)
	if !ok || kept != k {
		return false
	}
	if g.clean == nil || len(g.clean) >= maxClean {
		g.clean = make(map[string]struct{}, 64)
	}
	g.clean[strings.Clone(k)] = struct{}{}
	return true
}

// renamed is an attribute that waits for its new name.
type renamed struct {
	name  string
	value pcommon.Value
}

// keys writes names anew that are no valid UTF-8, too long, or hold what must not
// be kept. Each new name is looked for among all, so the caller limits their number
// first.
func (g *guard) keys(m pcommon.Map) {
	var broken []renamed
	m.RemoveIf(func(k string, v pcommon.Value) bool {
		if g.goodKey(k) {
			return false
		}
		value := pcommon.NewValueEmpty()
		v.MoveTo(value)
		broken = append(broken, renamed{g.name("", g.id("attribute.name", k)), value})
		return true
	})
	last := map[string]int{} // by name: the number behind it that was given last
	for _, b := range broken {
		dst, taken := m.GetOrPutEmpty(b.name)
		for n := max(2, last[b.name]+1); taken; n++ { // masks are equal
			last[b.name] = n
			dst, taken = m.GetOrPutEmpty(b.name + "#" + strconv.Itoa(n))
		}
		b.value.MoveTo(dst)
	}
}

// id gives an id or a name as valid UTF-8 and no longer than it may be.
func (g *guard) id(key, s string) string {
	kept := valid(s)
	if len(s) > maxID {
		g.cut = append(g.cut, canon.CutBody{Key: key, Size: len(s), Hash: sha256.Sum256([]byte(s))})
	}
	return kept
}

// valid gives a text as valid UTF-8 and no longer than a name may be: the ids
// that tie spans together are kept as they are otherwise.
func valid(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, string(utf8.RuneError))
	}
	return canon.Cut(s, maxID)
}

// maxID is the longest id, name or enum value that is kept, in bytes.
const maxID = 4096

// digestOf reads a hash that a sender stated, and gives its keyed hash.
func digestOf(v pcommon.Value, hash func(agent.Hash) agent.Digest) agent.Digest {
	if v.Type() != pcommon.ValueTypeStr {
		return agent.Digest{}
	}
	h, ok := canon.ParseHash(v.Str())
	if !ok {
		return agent.Digest{}
	}
	return hash(h)
}
