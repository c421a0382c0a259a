package policy

import "strings"

// Class is what the policy says a tool is. The zero value means that the rule says nothing.
type Class uint8

// The classes. ClassHandoff passes the run to another agent and is no tool call.
const (
	ClassUnset Class = iota
	ClassRead
	ClassAct
	ClassThink
	ClassReconcile
	ClassHuman
	ClassHandoff
	ClassOther
)

var classNames = []string{"read", "act", "think", "reconcile", "human", "handoff", "other"}

// String is the name of the class in the policy; empty where it is unset.
func (c Class) String() string { return enumName(classNames, c) }

// OnUnknown is a tool's declared answer to an unknown outcome. The zero value means unset.
type OnUnknown uint8

// The answers: look whether it took effect, run it again under its key, or ask a person.
const (
	OnUnknownUnset OnUnknown = iota
	OnUnknownReconcile
	OnUnknownReplay
	OnUnknownEscalate
)

var onUnknownNames = []string{"reconcile", "replay", "escalate"}

// String is the name of the answer in the policy; empty where it is unset.
func (o OnUnknown) String() string { return enumName(onUnknownNames, o) }

// Tool is a rule for the tools whose name matches. It is shared and read only. All methods may be called on nil, the answer of
// [Policy.Tool] where no rule matches.
type Tool struct {
	// Match is the pattern, as written.
	Match string
	// Class is ClassUnset where the rule does not state one: then the span decides.
	Class Class
	// Target and Key make target and idempotency key of a call's arguments, for spans that state none. Nil: nothing is made.
	Target, Key *Template
	// OnUnknown is the declared answer to an unknown outcome.
	OnUnknown OnUnknown
	// ReconcileWith are patterns of tools that tell whether this one took effect.
	ReconcileWith []string
	// UndoneBy are patterns of tools that take back what this one did.
	UndoneBy []string
	// ApprovalRequired: a person must have approved the call.
	ApprovalRequired bool
	// Forbidden: the tool must never run.
	Forbidden bool
	// Repeatable: running it again is no double effect.
	Repeatable bool
	// Repeat is the tool's own threshold of loop.repeat; 0: never; nil: that of [Detection]. See RepeatOr.
	Repeat *int
	// RepeatUnseen is the threshold of loop.repeat for calls whose arguments were not recorded; 0: never.
	RepeatUnseen int
	// Implied: no rule was written for the tool, it is named in a reconcile_with.
	Implied bool

	reconcileWith, undoneBy []glob
	reconciling             *Tool // the same rule with ClassReconcile, where Class is unset
}

// RepeatOr is the threshold of loop.repeat for the tool, or whole where it has none of its own. 0 means never.
func (t *Tool) RepeatOr(whole int) int {
	if t == nil || t.Repeat == nil {
		return whole
	}
	return *t.Repeat
}

// IsReconciledBy tells whether the named tool is in ReconcileWith, its name taken as in [Policy.Tool].
func (t *Tool) IsReconciledBy(name string) bool { return t != nil && matchAny(t.reconcileWith, name) }

// IsUndoneBy tells whether the named tool is in UndoneBy, its name taken as in [Policy.Tool].
func (t *Tool) IsUndoneBy(name string) bool { return t != nil && matchAny(t.undoneBy, name) }

// Tool is the first rule that matches the name as sent or without the prefix of its plugin or server, so that `get_order` also finds
// `support-get_order`, `mcp__shop__get_order`, `shop__get_order`, `functions.get_order`, `shop/get_order` and `default_api:get_order`.
// An earlier rule wins over a later one, whatever form of the name it matches. A tool that is named in a reconcile_with, and to
// which no rule gives a class, is ClassReconcile. Nil where nothing matches, and for a call without a name.
//
// It does not allocate. Of a name longer than 1,024 bytes only the beginning is looked at.
func (p *Policy) Tool(name string) *Tool {
	if name == "" {
		return nil
	}
	if i := firstForm(&p.toolIndex, name, p.written); i < p.written {
		t := &p.tools[i]
		if t.reconciling != nil && firstForm(&p.implied, name, len(p.tools)-p.written) < len(p.tools)-p.written {
			return t.reconciling
		}
		return t
	}
	if i := firstForm(&p.implied, name, len(p.tools)-p.written); i < len(p.tools)-p.written {
		return &p.tools[p.written+i]
	}
	return nil
}

// maxForms bounds how many prefixes are taken off one name.
const maxForms = 4

// firstForm is the place of the first pattern that matches a form of the name, else below.
func firstForm(x *index, name string, below int) int {
	for f := newForms(name); f.more(); {
		below = x.first(f.form, 0, below)
	}
	return below
}

func matchAny(globs []glob, name string) bool {
	if name == "" || len(globs) == 0 {
		return false
	}
	for f := newForms(name); f.more(); {
		for i := range globs {
			if globs[i].match(f.form) {
				return true
			}
		}
	}
	return false
}

// forms walks over a tool's name as sent and what is left of it without the prefixes that frameworks put before it.
type forms struct {
	form  string
	n     int
	ended bool
}

func newForms(name string) forms { return forms{form: cut(name)} }

func (f *forms) more() bool {
	f.n++
	if f.n == 1 {
		return true
	}
	if f.ended || f.n > maxForms {
		return false
	}
	rest := withoutServer(f.form)
	if rest == "" { // a plugin's prefix is the innermost and taken off once: a tool's own name may have hyphens
		f.ended = true
		_, rest, _ = strings.Cut(strings.TrimLeft(f.form, "-"), "-")
	}
	f.form = rest
	return rest != ""
}

// withoutServer takes the outermost prefix of an MCP server, name space or class off a tool's name; empty where it has none.
func withoutServer(name string) string {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if i := strings.Index(rest, "__"); i > 0 {
			return rest[i+2:]
		}
	}
	if i := strings.Index(name, "__"); i > 0 {
		return name[i+2:]
	}
	if i := strings.IndexAny(name, "/:."); i > 0 {
		return name[i+1:]
	}
	return ""
}

// finish compiles what the rules need for matching. Tools that a reconcile_with names get a rule of their own, behind all others.
func (p *Policy) finish(tools []Tool) {
	p.tools, p.written = tools, len(tools)
	var patterns, implied []string
	seen := make(map[string]bool)
	for i := range tools {
		t := &tools[i]
		patterns = append(patterns, t.Match)
		for _, name := range t.ReconcileWith {
			t.reconcileWith = append(t.reconcileWith, compileGlob(name))
			if !seen[name] {
				seen[name] = true
				implied = append(implied, name)
			}
		}
		for _, name := range t.UndoneBy {
			t.undoneBy = append(t.undoneBy, compileGlob(name))
		}
		if t.Class == ClassUnset {
			twin := *t
			twin.Class = ClassReconcile
			t.reconciling = &twin
		}
	}
	for _, name := range implied {
		p.tools = append(p.tools, Tool{Match: name, Class: ClassReconcile, Implied: true})
	}
	p.toolIndex, p.implied = newIndex(patterns), newIndex(implied)
}
