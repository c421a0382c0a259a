package canon

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
)

// Strip removes what only the processor may write, whoever sent it: facts,
// findings, and what an earlier processor derived (a kind by policy, a computed
// cost), which this one derives anew.
func Strip(span ptrace.Span) {
	at := span.Attributes()
	derivedKind, computedCost, ours := false, false, false
	for k, v := range at.All() {
		if !strings.HasPrefix(k, Prefix) {
			continue
		}
		switch k {
		case StepKindSource:
			ours = true
			derivedKind = v.Type() != pcommon.ValueTypeStr || v.Str() != agent.KindSourceReported.String()
		case CostSource:
			ours = true
			computedCost = v.Type() != pcommon.ValueTypeStr || v.Str() != agent.CostSourceReported.String()
		case RunIDSource, PolicyHash, Redacted, Truncated, Facts, Tenant:
			ours = true
		}
	}
	if ours {
		at.RemoveIf(func(k string, _ pcommon.Value) bool {
			switch k {
			case StepKindSource, CostSource, RunIDSource, PolicyHash, Redacted, Truncated, Facts, Tenant:
				return true
			case StepKind:
				return derivedKind
			case CostUSD:
				return computedCost
			}
			return false
		})
	}
	if evs := span.Events(); evs.Len() > 0 {
		evs.RemoveIf(func(ev ptrace.SpanEvent) bool { return ev.Name() == FindingEvent })
	}
}

// Annotator writes records onto their spans. The zero Annotator is ready. It is
// not safe for concurrent use.
type Annotator struct{ buf []byte }

// Annotate writes what the processor decided onto the span: plain attributes
// for any reader, and agent.facts. A span that is no step gets its facts and the
// policy's hash only. What the span states in words that no enum knows is left
// as it is.
func (a *Annotator) Annotate(span ptrace.Span, rec *Record, cut []CutBody) {
	s := &rec.Step
	at := span.Attributes()
	at.EnsureCapacity(at.Len() + 8)
	if s.Op != agent.OpNone && s.Op != agent.OpHTTP {
		a.step(at, rec)
	}
	put(at, PolicyHash, s.PolicyHash)
	if s.Redacted > 0 {
		at.PutInt(Redacted, int64(s.Redacted))
	}
	if len(cut) > 0 {
		names := at.PutEmptySlice(Truncated)
		for _, c := range cut {
			names.AppendEmpty().SetStr(c.Key + " " + strconv.Itoa(c.Size) + " sha256:" + hex.EncodeToString(c.Hash[:]))
		}
	}
	a.buf = appendFacts(a.buf[:0], rec)
	at.PutEmptyBytes(Facts).FromRaw(a.buf)
}

func (a *Annotator) step(at pcommon.Map, rec *Record) {
	s := &rec.Step
	if !rec.unknown(StepKind) {
		kind, source := s.Kind, s.KindSource
		if kind == agent.KindUnset && s.Op == agent.OpTool {
			kind, source = agent.KindAct, agent.KindSourceDefault
		}
		put(at, StepKind, kind.String())
		put(at, StepKindSource, source.String())
	}
	if s.RunID != "" || s.DialectRun != "" {
		at.PutStr(RunIDSource, agent.IDSourceReported.String())
	}
	put(at, Target, s.Call.Target)
	put(at, IdempotencyKey, s.Call.Key)
	if s.Call.OnUnknown != agent.OnUnknownUnset && !rec.unknown(OnUnknown) {
		at.PutStr(OnUnknown, s.Call.OnUnknown.String())
	}
	if s.Model.CostSource != agent.CostSourceUnset && !rec.unknown(CostUSD) {
		at.PutDouble(CostUSD, float64(s.Model.CostNano)/1e9)
		at.PutStr(CostSource, s.Model.CostSource.String())
	}
}

func (r *Record) unknown(key string) bool {
	return slices.Contains(r.Unknown, key)
}
