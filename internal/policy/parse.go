package policy

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Option changes how Parse works.
type Option func(*decoder)

// WithRedactionKey gives the key that is used where redaction.key names an environment variable that is not set, or is empty. A
// policy that does not state redaction.key at all is refused all the same.
func WithRedactionKey(key string) Option { return func(d *decoder) { d.key = key } }

// WithConditionCheck gives a function that says what is wrong with the condition of a rule, so that its problems are reported with
// all others. The processor passes its OTTL parser.
func WithConditionCheck(check func(condition string) error) Option {
	return func(d *decoder) { d.check = check }
}

// Parse reads and checks a policy. env looks up an environment variable and tells whether it is set; nil: none is.
//
// The error joins all problems, each a *Problem, in the order of the file. Where the redaction key is missing, it is
// ErrNoRedactionKey among others.
func Parse(data []byte, env func(string) (string, bool), options ...Option) (*Policy, error) {
	d := &decoder{env: env}
	for _, o := range options {
		o(d)
	}
	p := &Policy{}
	if root := d.load(data); root != nil {
		if o := d.object(root, "", "", 1); o != nil {
			p.decode(o)
		}
	}
	if len(d.problems) > 0 {
		return nil, join(d.problems)
	}
	p.hash = hashOf(p)
	return p, nil
}

func (p *Policy) decode(o *object) {
	o.integer("version")
	p.decodeTools(o)
	p.decodeLimits(o)
	p.decodeDetection(o.child("detection"))
	p.decodeRules(o)
	p.RunIDKeys = o.texts("run_id_keys")
	p.decodePrices(o)
	p.decodeRedaction(o.child("redaction"))
	p.decodeRetention(o.child("retention"))
	p.decodeSampling(o.child("sampling"))
}

func (p *Policy) decodeTools(o *object) {
	var tools []Tool
	for _, e := range o.objects("tools") {
		t := Tool{
			Match:            e.text("match"),
			Class:            choose[Class](e, "class"),
			Target:           e.template("target"),
			Key:              e.template("key"),
			OnUnknown:        choose[OnUnknown](e, "on_unknown"),
			ReconcileWith:    e.texts("reconcile_with"),
			UndoneBy:         e.texts("undone_by"),
			ApprovalRequired: choose[uint8](e, "approval") != 0,
			Forbidden:        e.flag("forbidden"),
			Repeatable:       e.flag("repeatable"),
			RepeatUnseen:     int(e.integer("repeat_unseen")),
		}
		if e.has("repeat") {
			repeat := int(e.integer("repeat"))
			t.Repeat = &repeat
		}
		if t.Key != nil && !t.Key.hasArgument() {
			e.d.problemf(e.at("key"), e.fields["key"].Line, "%s names no argument, so all calls would have one key; write for example \"{idempotency_key}\"", quote(t.Key.source))
		}
		tools = append(tools, t)
	}
	if len(o.d.problems) == 0 {
		p.finish(tools)
	}
}

func (p *Policy) decodeLimits(o *object) {
	var patterns []string
	for _, e := range o.objects("limits") {
		r := limitRule{limits: Limits{
			Steps:       e.integer("steps"),
			ToolCalls:   e.integer("tool_calls"),
			Tokens:      e.integer("tokens"),
			WallTime:    e.duration("wall_time"),
			CostNanoUSD: e.usd("cost_usd"),
			Attempts:    int(e.integer("attempts")),
		}}
		if m := e.child("match"); m != nil {
			r.agent, r.taskType = m.text("agent"), m.text("task_type")
		}
		r.task = compileGlob(r.taskType)
		p.limits = append(p.limits, r)
		patterns = append(patterns, r.agent)
	}
	if len(o.d.problems) == 0 {
		p.limitIndex = newIndex(patterns)
	}
}

func (p *Policy) decodeDetection(o *object) {
	if o == nil {
		return
	}
	p.Detection = Detection{
		Repeat:       int(o.integer("repeat")),
		CycleRounds:  int(o.integer("cycle_rounds")),
		StallWindow:  int(o.integer("stall_window")),
		UnknownSLA:   o.duration("unknown_sla"),
		Quiet:        o.duration("quiet"),
		InFlight:     o.duration("in_flight"),
		Settle:       o.duration("settle"),
		ContextBytes: int(o.integer("context_bytes")),
	}
}

func (p *Policy) decodeRules(o *object) {
	seen := make(map[string]bool)
	for _, e := range o.objects("rules") {
		r := Rule{
			Name:      e.text("name"),
			Severity:  choose[Severity](e, "severity"),
			Condition: e.text("condition"),
			Message:   e.text("message"),
			key:       e.at("condition"),
			line:      e.line,
		}
		e.unique(seen, r.Name)
		if e.has("condition") {
			r.line = e.fields["condition"].Line
		}
		if r.Condition != "" && o.d.check != nil {
			if err := o.d.check(r.Condition); err != nil {
				o.d.problem(r.key, r.line, &ruleError{name: r.Name, err: err})
			}
		}
		p.Rules = append(p.Rules, r)
	}
}

// unique reports a name that stands in an earlier entry of the list.
func (o *object) unique(seen map[string]bool, name string) {
	if name != "" && seen[name] {
		o.d.problemf(o.at("name"), o.fields["name"].Line, "%s is taken by an earlier rule", quote(name))
	}
	seen[name] = true
}

func (p *Policy) decodePrices(o *object) {
	var patterns []string
	for _, e := range o.objects("prices") {
		price := Price{Model: e.text("model"), Input: e.usd("input"), Cached: e.usd("cached"), Output: e.usd("output")}
		if !e.has("cached") {
			price.Cached = price.Input
		}
		p.prices = append(p.prices, price)
		patterns = append(patterns, price.Model)
	}
	if len(o.d.problems) == 0 {
		p.priceIndex = newIndex(patterns)
	}
}

func (p *Policy) decodeRedaction(o *object) {
	if o == nil {
		return
	}
	p.Redaction = Redaction{
		Mode:            choose[RedactionMode](o, "mode"),
		Key:             o.secret("key"),
		Detectors:       o.texts("detectors"),
		Keys:            o.texts("keys"),
		IdempotencyKeys: choose[Treatment](o, "idempotency_keys"),
		Targets:         choose[Treatment](o, "targets"),
	}
	seen := make(map[string]bool)
	for _, e := range o.objects("rules") {
		r := RedactionRule{Name: e.text("name"), Pattern: e.pattern("pattern")}
		e.unique(seen, r.Name)
		if slices.Contains(detectorNames, r.Name) {
			e.d.problemf(e.at("name"), e.fields["name"].Line, "%s is the name of a detector; choose another", quote(r.Name))
		}
		p.Redaction.Rules = append(p.Redaction.Rules, r)
	}
}

// secret reads the redaction key. No problem of it shows any of it.
func (o *object) secret(name string) Secret {
	n := o.value(name)
	if n == nil {
		return Secret{}
	}
	spec := o.specOf(name)
	before := len(o.d.problems)
	s, ok := o.d.scalar(n, o.at(name))
	var unset *unsetError
	if !ok && errors.As(o.d.problems[len(o.d.problems)-1].Err, &unset) {
		o.d.problems = o.d.problems[:before]
		s.text, ok = "", true
	}
	if !ok {
		return Secret{}
	}
	if s.text == "" {
		s.text = o.d.key
	}
	switch size := int64(len(s.text)); {
	case size == 0 && unset != nil:
		o.d.problem(s.path, s.line, fmt.Errorf("%w: environment variable %s is not set; set it to a secret of %s, for example from: openssl rand -hex 32", ErrNoRedactionKey, unset.name, spec.limits()))
	case size == 0:
		o.d.problem(s.path, s.line, fmt.Errorf("%w: it is empty; it needs %s, for example from: openssl rand -hex 32", ErrNoRedactionKey, spec.limits()))
	case size < spec.min || size > spec.max:
		o.d.problemf(s.path, s.line, "has %d bytes, must have %s", size, spec.limits())
	}
	return NewSecret(s.text)
}

func (p *Policy) decodeRetention(o *object) {
	if o == nil {
		return
	}
	p.retention.decode(o, func(string) bool { return true })
	all := o.child("tenants")
	if all == nil {
		return
	}
	if most := o.specOf("tenants").max; int64(len(all.order)) > most {
		o.d.problemf(all.path, all.line, "has %d tenants, at most %d are allowed", len(all.order), most)
		return
	}
	p.tenants = make(map[string]Retention)
	for _, name := range all.order {
		if err := checkText(&keySpec{kind: kindText, max: maxGlob}, name); err != nil {
			o.d.problem(all.at(name), all.line, fmt.Errorf("the tenant's name %w", err))
			continue
		}
		terms := p.retention
		if e := o.d.object(all.fields[name], "retention.tenants.*", all.at(name), all.line); e != nil {
			terms.decode(e, e.has)
			if terms != p.retention {
				p.tenants[name] = terms
			}
		}
	}
}

// decode reads the terms that are asked for.
func (r *Retention) decode(o *object, asked func(name string) bool) {
	for _, t := range r.terms() {
		if asked(t.name) {
			*t.term = o.duration(t.name)
		}
	}
}

// term is one term of a retention, by its name in the policy.
type term struct {
	name string
	term *time.Duration
}

func (r *Retention) terms() []term {
	return []term{
		{"act", &r.Act},
		{"human", &r.Human},
		{"think", &r.Think},
		{"read", &r.Read},
		{"content", &r.Content},
		{"findings", &r.Findings},
		{"access_log", &r.AccessLog},
	}
}

func (p *Policy) decodeSampling(o *object) {
	if o == nil {
		return
	}
	p.Sampling = Sampling{ReadContent: o.share("read_content"), Grace: o.duration("grace")}
}
