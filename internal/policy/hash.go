package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// hashOf is SHA-256 of the policy's canonical text, in hex.
func hashOf(p *Policy) string {
	sum := sha256.Sum256([]byte(canonical(p)))
	return hex.EncodeToString(sum[:])
}

// canonical writes the policy in one fixed spelling, which Parse reads to an equal policy. The redaction key is no part of it.
func canonical(p *Policy) string {
	var w writer
	w.open("")
	w.number("version", 1)
	w.tools(p.tools[:p.written])
	w.limits(p.limits)
	w.detection(p.Detection)
	w.list("rules", len(p.Rules), func(i int) {
		r := p.Rules[i]
		w.text("name", r.Name)
		w.text("severity", r.Severity.String())
		w.text("condition", r.Condition)
		w.text("message", r.Message)
	})
	w.texts("run_id_keys", p.RunIDKeys)
	w.list("prices", len(p.prices), func(i int) {
		w.text("model", p.prices[i].Model)
		w.bare("input", formatDecimal(p.prices[i].Input))
		w.bare("cached", formatDecimal(p.prices[i].Cached))
		w.bare("output", formatDecimal(p.prices[i].Output))
	})
	w.redaction(p.Redaction)
	w.retention(p)
	w.open("sampling")
	w.bare("read_content", strconv.FormatFloat(p.Sampling.ReadContent, 'g', -1, 64))
	w.bare("grace", formatDuration(p.Sampling.Grace))
	w.close()
	w.WriteString("}\n")
	return w.String()
}

func (w *writer) tools(tools []Tool) {
	w.list("tools", len(tools), func(i int) {
		t := &tools[i]
		w.text("match", t.Match)
		w.text("class", t.Class.String())
		w.text("target", t.Target.String())
		w.text("key", t.Key.String())
		w.text("on_unknown", t.OnUnknown.String())
		w.texts("reconcile_with", t.ReconcileWith)
		w.texts("undone_by", t.UndoneBy)
		if t.ApprovalRequired {
			w.text("approval", "required")
		}
		w.bare("forbidden", strconv.FormatBool(t.Forbidden))
		w.bare("repeatable", strconv.FormatBool(t.Repeatable))
		if t.Repeat != nil {
			w.number("repeat", int64(*t.Repeat))
		}
		w.number("repeat_unseen", int64(t.RepeatUnseen))
	})
}

func (w *writer) limits(rules []limitRule) {
	positive := func(key string, v int64) {
		if v > 0 {
			w.number(key, v)
		}
	}
	w.list("limits", len(rules), func(i int) {
		r := &rules[i]
		w.open("match")
		w.text("agent", r.agent)
		w.text("task_type", r.taskType)
		w.close()
		positive("steps", r.limits.Steps)
		positive("tool_calls", r.limits.ToolCalls)
		positive("tokens", r.limits.Tokens)
		if r.limits.WallTime > 0 {
			w.bare("wall_time", formatDuration(r.limits.WallTime))
		}
		if r.limits.CostNanoUSD > 0 {
			w.bare("cost_usd", formatDecimal(r.limits.CostNanoUSD))
		}
		w.number("attempts", int64(r.limits.Attempts))
	})
}

func (w *writer) detection(d Detection) {
	w.open("detection")
	w.number("repeat", int64(d.Repeat))
	w.number("cycle_rounds", int64(d.CycleRounds))
	w.number("stall_window", int64(d.StallWindow))
	w.bare("unknown_sla", formatDuration(d.UnknownSLA))
	w.bare("quiet", formatDuration(d.Quiet))
	w.bare("in_flight", formatDuration(d.InFlight))
	w.bare("settle", formatDuration(d.Settle))
	w.number("context_bytes", int64(d.ContextBytes))
	w.close()
}

func (w *writer) redaction(r Redaction) {
	w.open("redaction")
	w.text("mode", r.Mode.String())
	w.bare("key", quoted("${env:STEPTRAIL_REDACTION_KEY}"))
	w.texts("detectors", r.Detectors)
	w.texts("keys", r.Keys)
	w.list("rules", len(r.Rules), func(i int) {
		w.text("name", r.Rules[i].Name)
		w.text("pattern", r.Rules[i].Pattern.String())
	})
	w.text("idempotency_keys", r.IdempotencyKeys.String())
	w.text("targets", r.Targets.String())
	w.close()
}

func (w *writer) retention(p *Policy) {
	terms := func(r Retention) {
		for _, t := range r.terms() {
			w.bare(t.name, formatDuration(*t.term))
		}
	}
	w.open("retention")
	terms(p.retention)
	w.open("tenants")
	for _, name := range slices.Sorted(maps.Keys(p.tenants)) {
		w.open(quoted(name))
		terms(p.tenants[name])
		w.close()
	}
	w.close()
	w.close()
}

// writer writes YAML in flow style.
type writer struct{ strings.Builder }

func (w *writer) open(key string) {
	if key != "" {
		w.WriteString(key + ": ")
	}
	w.WriteString("{")
}

func (w *writer) close() { w.WriteString("},\n") }

func (w *writer) bare(key, value string) { fmt.Fprintf(w, "%s: %s, ", key, value) }

func (w *writer) number(key string, v int64) { w.bare(key, strconv.FormatInt(v, 10)) }

// text leaves out what is empty: no key has an empty text for a value.
func (w *writer) text(key, value string) {
	if value != "" {
		w.bare(key, quoted(strings.ReplaceAll(value, "$", "$$")))
	}
}

func (w *writer) texts(key string, values []string) {
	w.WriteString(key + ": [")
	for _, v := range values {
		w.WriteString(quoted(strings.ReplaceAll(v, "$", "$$")) + ", ")
	}
	w.WriteString("],\n")
}

func (w *writer) list(key string, n int, write func(i int)) {
	w.WriteString(key + ": [\n")
	for i := range n {
		w.open("")
		write(i)
		w.close()
	}
	w.WriteString("],\n")
}

// quoted writes a text in the escapes that Go and YAML share.
func quoted(s string) string { return strconv.QuoteToASCII(s) }
