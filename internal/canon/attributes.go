package canon

import (
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
)

// attributes reads all attributes of a span in one pass. What no field holds,
// and what an enum does not know, is kept as it came.
func (r *Reader) attributes(span ptrace.Span) {
	rec := &r.rec
	s := &rec.Step
	for k, v := range span.Attributes().All() {
		if strings.HasPrefix(k, Prefix) {
			if r.own(s, k, v) {
				continue
			}
		} else if r.foreign(s, k, v) {
			continue
		}
		s.Attributes = r.attr(s.Attributes, k, v)
	}
	r.fix(s.Attributes)
}

// own takes an attribute of ours, and reports whether a field holds it now.
func (r *Reader) own(s *agent.Step, k string, v pcommon.Value) bool {
	switch k {
	case RunID:
		s.RunID = text(v)
	case RunParentID:
		s.ParentRun = text(v)
	case RunOutcome:
		return enum(r, k, v, &s.RunOutcome, agent.ParseRunOutcome)
	case TaskType:
		s.TaskType = text(v)
	case ScenarioID:
		s.Scenario = text(v)
	case StepID:
		s.StepID = text(v)
	case StepIndex:
		return r.bounded(k, v, &s.Index, 0)
	case StepAttempt:
		return r.bounded(k, v, &s.Attempt, 1)
	case StepKind:
		return enum(r, k, v, &r.rec.StatedKind, agent.ParseKind)
	case ToolEffect:
		return enum(r, k, v, &s.Call.Effect, agent.ParseEffect)
	case Target:
		s.Call.Target = text(v)
	case IdempotencyKey:
		s.Call.Key = text(v)
	case GateDecision:
		return enum(r, k, v, &s.Call.Gate, agent.ParseGate)
	case Outcome:
		return enum(r, k, v, &s.Outcome, agent.ParseOutcome)
	case OnUnknown:
		return enum(r, k, v, &s.Call.OnUnknown, agent.ParseOnUnknown)
	case Reconciles:
		s.Reconciles = text(v)
	case ReconcileResult:
		return enum(r, k, v, &s.ReconcileResult, agent.ParseSettlement)
	case HumanDecision:
		return enum(r, k, v, &s.Decision, agent.ParseDecision)
	case HumanActor:
		s.Actor = text(v)
	case HumanReason:
		s.Reason = text(v)
	case EscalationReason:
		s.Escalation = text(v)
	case ContextHash:
		return r.hash(k, v, &s.Model.ContextHash)
	case ContextRef:
		s.Model.ContextURI = text(v)
	case PromptVersion:
		s.Model.PromptVersion = text(v)
	case CostUSD:
		return r.cost(k, v, s)
	case PolicyHash:
		s.PolicyHash = text(v)
	case Redacted:
		n, _ := integer(v)
		s.Redacted = clamp32(n)
	case Facts:
		if v.Type() == pcommon.ValueTypeBytes {
			r.facts = v.Bytes().AsRaw()
		}
	case StepKindSource, CostSource, RunIDSource:
		// The facts say it.
	default:
		return false
	}
	return true
}

// foreign takes an attribute that OTel names.
func (r *Reader) foreign(s *agent.Step, k string, v pcommon.Value) bool {
	m := &s.Model
	switch k {
	case ConversationID:
		s.Session = text(v)
	case SessionID:
		r.rec.session = text(v)
	case UserID:
		s.User = text(v)
	case AgentName:
		s.Agent = text(v)
	case AgentID:
		s.AgentID = text(v)
	case AgentVersion:
		s.AgentVersion = text(v)
	case ToolName:
		s.Call.Tool = text(v)
	case ToolCallID:
		s.Call.ID = text(v)
	case ToolType:
		s.Call.ToolType = text(v)
	case ToolArguments:
		r.rec.arguments = text(v)
	case ToolResult:
		r.rec.result = text(v)
	case SystemInstructions:
		r.rec.content[slotSystem] = text(v)
	case InputMessages:
		r.rec.content[slotInput] = text(v)
	case OutputMessages:
		r.rec.content[slotOutput] = text(v)
	case ProviderName:
		m.Provider = text(v)
	case RequestModel:
		m.Requested = text(v)
	case ResponseModel:
		m.Served = text(v)
	case ResponseID:
		m.ResponseID = text(v)
	case PromptName:
		m.PromptName = text(v)
	case FinishReasons:
		m.FinishReason = list(v)
	case RequestTemperature:
		return r.double(k, v, &m.Params.Temperature)
	case RequestTopP:
		return r.double(k, v, &m.Params.TopP)
	case RequestMaxTokens:
		return r.whole(k, v, &m.Params.MaxTokens)
	case RequestSeed:
		return r.whole(k, v, &m.Params.Seed)
	case InputTokens:
		return r.tokens(k, v, m, &m.Tokens.Input)
	case OutputTokens:
		return r.tokens(k, v, m, &m.Tokens.Output)
	case CacheReadTokens:
		return r.tokens(k, v, m, &m.Tokens.CacheRead)
	case CacheWriteTokens:
		return r.tokens(k, v, m, &m.Tokens.CacheWrite)
	case ReasoningTokens:
		return r.tokens(k, v, m, &m.Tokens.Reasoning)
	case HandoffTo:
		s.HandoffTo = text(v)
	case ErrorType:
		s.ErrorType = text(v)
	case HTTPMethod:
		s.HTTP.Method = strings.ToUpper(text(v))
	case HTTPStatus:
		n, ok := integer(v)
		if !ok || n < 100 || n > 599 {
			return r.unknown(k)
		}
		s.StatusCode = int32(n) // bounded
	case HTTPKeyHeader:
		s.HTTP.Key = list(v)
	case URLFull:
		s.HTTP.URL = withoutQuery(text(v))
		return false
	case URLPath:
		if s.HTTP.URL == "" {
			s.HTTP.URL = withoutQuery(text(v))
		}
		return false
	case RPCStatus:
		if n, ok := integer(v); ok && n > 0 && n < 17 {
			r.rec.status.grpc = int(n)
		}
		return false
	default:
		return false
	}
	return true
}

// enum reads a value of an open enum; what it does not know stays an attribute.
func enum[T any](r *Reader, k string, v pcommon.Value, field *T, parse func(string) (T, bool)) bool {
	p, ok := parse(text(v))
	if !ok {
		return r.unknown(k)
	}
	*field = p
	return true
}

func (r *Reader) unknown(k string) bool {
	r.rec.Unknown = append(r.rec.Unknown, k)
	return false
}

func (r *Reader) bounded(k string, v pcommon.Value, field *int32, least int64) bool {
	n, ok := integer(v)
	if !ok || n < least || n > math.MaxInt32 {
		return r.unknown(k)
	}
	*field = int32(n) // bounded
	return true
}

// maxTokens is the most that one count is believed; a run's sum then fits.
const maxTokens = 1 << 40

func (r *Reader) tokens(k string, v pcommon.Value, m *agent.Model, field *int64) bool {
	n, ok := integer(v)
	if !ok || n < 0 || n > maxTokens {
		return r.unknown(k)
	}
	m.Tokens.Known = true
	*field = n
	return true
}

func (r *Reader) double(k string, v pcommon.Value, field **float64) bool {
	f, ok := number(v)
	if !ok {
		return r.unknown(k)
	}
	*field = &f
	return true
}

func (r *Reader) whole(k string, v pcommon.Value, field **int64) bool {
	n, ok := integer(v)
	if !ok {
		return r.unknown(k)
	}
	*field = &n
	return true
}

func (r *Reader) cost(k string, v pcommon.Value, s *agent.Step) bool {
	f, ok := number(v)
	if !ok || f < 0 || f*1e9 > agent.MaxCostNano {
		return r.unknown(k)
	}
	s.Model.CostNano = int64(math.Round(f * 1e9))
	s.Model.CostSource = agent.CostSourceReported
	return true
}

// hash reads sha256:<hex>.
func (r *Reader) hash(k string, v pcommon.Value, field *agent.Hash) bool {
	h, ok := ParseHash(text(v))
	if !ok {
		return r.unknown(k)
	}
	*field = h
	return true
}

// ParseHash reads sha256:<64 hex digits>.
func ParseHash(s string) (h agent.Hash, ok bool) {
	s, ok = strings.CutPrefix(s, "sha256:")
	if !ok || len(s) != 2*len(h) {
		return agent.Hash{}, false
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return agent.Hash{}, false
	}
	return h, true
}

// attr appends an attribute as it came. Values that are no strings are written
// as JSON into one buffer; fix gives them their text.
func (r *Reader) attr(dst []agent.Attr, k string, v pcommon.Value) []agent.Attr {
	if v.Type() == pcommon.ValueTypeStr {
		return append(dst, agent.Attr{Key: k, Value: v.Str()})
	}
	r.json = AppendJSON(r.json, v)
	r.pending = append(r.pending, len(dst), len(r.json))
	return append(dst, agent.Attr{Key: k, JSON: true})
}

// fix makes one string of the JSON values and hands out its parts.
func (r *Reader) fix(attrs []agent.Attr) {
	if len(r.pending) > 0 {
		all := string(r.json)
		from := 0
		for i := 0; i < len(r.pending); i += 2 {
			to := r.pending[i+1]
			attrs[r.pending[i]].Value = all[from:to]
			from = to
		}
	}
	r.json, r.pending = r.json[:0], r.pending[:0]
}

func withoutQuery(u string) string {
	if i := strings.IndexAny(u, "?#"); i >= 0 {
		return u[:i]
	}
	return u
}

// Cut cuts a text to at most n bytes, on a rune boundary.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
