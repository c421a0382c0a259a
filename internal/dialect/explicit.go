package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// explicit reads spans that carry agent.* attributes and nothing by which an
// instrumentation could be told. What they are follows from the kind stated.
func explicit(span ptrace.Span, l *look, st *canon.Stated) {
	kind := agent.KindUnset
	if v, ok := span.Attributes().Get(canon.StepKind); ok && v.Type() == pcommon.ValueTypeStr {
		kind, _ = agent.ParseKind(kindSpelling(v.Str()))
	}
	switch kind {
	case agent.KindUnset:
		if l.has(markTool) {
			st.Op = agent.OpTool
		}
	case agent.KindThink:
		st.Op = agent.OpModel
	case agent.KindRead, agent.KindAct, agent.KindReconcile:
		st.Op = agent.OpTool
	case agent.KindHuman:
		st.Op = agent.OpHuman
	case agent.KindOther:
		st.Op = agent.OpWorkflow
	}
	contentEvents(span, st.Op)
}

// overlay reads agent.* attributes on a span of any dialect: it writes accepted
// spellings as the canonical values, and tells gates and human steps apart from
// executions.
func overlay(span ptrace.Span, l *look, st *canon.Stated) {
	var kind, gate pcommon.Value
	hasKind, hasGate, hasDecision := false, false, false
	for k, v := range span.Attributes().All() {
		if v.Type() != pcommon.ValueTypeStr {
			continue
		}
		switch k {
		case canon.StepKind:
			respell(v, kindSpelling)
			kind, hasKind = v, true
		case canon.Outcome:
			respell(v, outcomeSpelling)
		case canon.HumanDecision:
			respell(v, canon.DecisionSpelling)
			hasDecision = true
		case canon.GateDecision:
			gate, hasGate = v, true
		}
	}
	human := hasKind && kind.Str() == agent.KindHuman.String()
	if human && st.Op != agent.OpModel {
		st.Op = agent.OpHuman
	}
	switch {
	case !hasGate:
	case human && !hasDecision:
		// A person is a gate too: what it decided is a person's decision.
		if d := canon.DecisionSpelling(gate.Str()); isDecision(d) {
			span.Attributes().PutStr(canon.HumanDecision, d)
			span.Attributes().Remove(canon.GateDecision)
		}
	case !human && isGate(gate.Str()) && l.operation != "execute_tool" && !l.has(markResult) &&
		(st.Op == agent.OpTool || st.Op == agent.OpNone || st.Op == agent.OpHTTP):
		st.Op, st.Kind, st.KindSource = agent.OpGate, agent.KindUnset, agent.KindSourceUnset
	}
}

func isGate(s string) bool {
	_, ok := agent.ParseGate(s)
	return ok
}

func isDecision(s string) bool {
	_, ok := agent.ParseDecision(s)
	return ok
}

func respell(v pcommon.Value, spelling func(string) string) {
	if s := v.Str(); spelling(s) != s {
		v.SetStr(spelling(s))
	}
}

func kindSpelling(s string) string {
	switch s {
	case "thinking":
		return "think"
	case "reading":
		return "read"
	case "doing":
		return "act"
	case "approval":
		return "human"
	}
	return s
}

func outcomeSpelling(s string) string {
	switch s {
	case "succeeded":
		return "ok"
	case "failed":
		return "error"
	case "cancelled":
		return "unknown"
	}
	return s
}
