package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/cjson"
)

// call is what is known of the arguments or the result.
type call struct {
	content  agent.Content
	sent     agent.Digest
	compared string // pseudonymised, until the next span
}

// Arguments takes the text of gen_ai.tool.call.arguments and returns what may
// be kept in its place, and the whole text with keyed pseudonyms, from which the
// policy's templates are filled; the latter is empty where nothing may be kept.
func (a *Analyzer) Arguments(raw string) (kept, compared string) {
	kept, compared, c := a.body(ToolArguments, raw, true)
	if c.State == agent.RecordedYes {
		a.args.sent = a.sentHash(raw)
	}
	a.args.content, a.args.compared = c, compared
	return kept, compared
}

// Result does the same for gen_ai.tool.call.result.
func (a *Analyzer) Result(raw string) string {
	kept, compared, c := a.body(ToolResult, raw, false)
	a.res.content, a.res.compared = c, compared
	return kept
}

func (a *Analyzer) body(key, raw string, arguments bool) (stored, compared string, c agent.Content) {
	if raw == "" {
		return "", "", c
	}
	c = agent.Content{State: agent.RecordedYes, Size: int64(len(raw))}
	stored, compared, replaced, ok := a.protect.Content(raw)
	a.Replaced += replaced
	if !ok {
		a.Refused++
		stored, compared, c.State = refusedBody(len(raw)), "", agent.RecordedOpaque
	} else if cjson.IsPlaceholder(raw) {
		c.State = agent.RecordedOpaque
	}
	if c.State == agent.RecordedYes {
		if arguments {
			a.form = ArgumentsForm(a.form[:0], compared, a.start)
			c.Digest = a.protect.Hash(DomainArguments, a.form)
		} else {
			text, _ := ResultText(compared)
			a.form = ResultForm(a.form[:0], text)
			c.Digest = a.protect.Hash(DomainResult, a.form)
		}
	}
	if len(stored) > a.MaxBody {
		full := sha256.Sum256([]byte(stored))
		a.Cut = append(a.Cut, CutBody{Key: key, Size: len(stored), Hash: full})
		stored = cutBody(stored, a.MaxBody, full, agent.RoleUnset)
	}
	a.sum = append(a.sum[:0], stored...)
	hash := sha256.Sum256(a.sum)
	copy(c.Ref[:], hash[:])
	return stored, compared, c
}

// sentHash is the keyed hash of the SHA-256 of the arguments as sent, in the
// form of RFC 8785. It is made before redaction and nothing else of them is
// kept.
func (a *Analyzer) sentHash(raw string) agent.Digest {
	var err error
	if a.form, err = cjson.Canonical(a.form[:0], raw); err != nil {
		a.form = cjson.AppendQuoted(a.form[:0], raw)
	}
	return a.KeyedHash(sha256.Sum256(a.form))
}

// KeyedHash is the keyed hash of a hash that a sender stated.
func (a *Analyzer) KeyedHash(h agent.Hash) agent.Digest { return a.protect.Hash(DomainSent, h[:]) }

// cutBody is what is kept of a body that is too large: its beginning, cut on a
// rune boundary, its full size and the SHA-256 of the whole, as JSON.
func cutBody(text string, most int, full [32]byte, role agent.Role) string {
	b := make([]byte, 0, most+256)
	b = append(b, '{')
	if role != agent.RoleUnset {
		b = cjson.AppendQuoted(append(b, `"role":`...), role.String())
		b = append(b, ',')
	}
	b = strconv.AppendInt(append(b, `"truncated":{"size":`...), int64(len(text)), 10)
	b = append(b, `,"sha256":"`...)
	b = hex.AppendEncode(b, full[:])
	b = cjson.AppendQuoted(append(b, `"},"head":`...), Cut(text, most))
	return string(append(b, '}'))
}

// refusedBody stands for a body that redaction refused to look through.
func refusedBody(size int) string {
	return `{"dropped":{"size":` + strconv.Itoa(size) + `,"reason":"redaction limit"}}`
}
