package policy

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"get_order", "get_order", true},
		{"get_order", "Get_order", false},
		{"get_order", "get_orders", false},
		{"*", "", true},
		{"*", "anything", true},
		{"**", "anything", true},
		{"get_*", "get_", true},
		{"get_*", "forget_it", false},
		{"*_secret", "client_secret", true},
		{"*_secret", "client_secrets", false},
		{"*-get_*", "support-get_order", true},
		{"*-get_*", "get_order", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "abab", false},
		{"aba*aba", "aba", false},
		{"aba*aba", "abaaba", true},
		{"a*ba*a", "aba", false},
		{"gpt-?", "gpt-5", true},
		{"gpt-?", "gpt-", false},
		{"gpt-?", "gpt-55", false},
		{"?", "ö", true},
		{"?", "\xff", true},
		{"*?", "", false},
		{"a?*c", "abc", true},
		{"a?*c", "ac", false},
		{"*a?c", "aaabc", true},
		{"[ab]", "a", false},
		{"a.c", "abc", false},
	} {
		g := compileGlob(c.pattern)
		assert.Equal(t, c.want, g.match(c.name), "%q on %q", c.pattern, c.name)
	}
}

// reference is a glob as a regular expression.
func reference(pattern string) *regexp.Regexp {
	text := regexp.QuoteMeta(pattern)
	text = strings.ReplaceAll(text, `\*`, `.*`)
	text = strings.ReplaceAll(text, `\?`, `.`)
	return regexp.MustCompile(`(?s)^` + text + `$`)
}

func TestAGlobMatchesWhatItsRegularExpressionMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[abö*?]{1,8}`).Draw(t, "pattern")
		name := rapid.StringMatching(`[abö]{0,10}`).Draw(t, "name")
		g := compileGlob(pattern)
		if want := reference(pattern).MatchString(name); g.match(name) != want {
			t.Fatalf("%q on %q: %v", pattern, name, !want)
		}
	})
}

func TestTheIndexFindsTheFirstPatternThatMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		patterns := rapid.SliceOfN(rapid.StringMatching(`[ab*?]{1,4}`), 0, 12).Draw(t, "patterns")
		name := rapid.StringMatching(`[ab]{0,5}`).Draw(t, "name")
		from := rapid.IntRange(0, len(patterns)).Draw(t, "from")
		want := len(patterns)
		for i := len(patterns) - 1; i >= from; i-- {
			if reference(patterns[i]).MatchString(name) {
				want = i
			}
		}
		x := newIndex(patterns)
		if got := x.first(name, from, len(patterns)); got != want {
			t.Fatalf("%q in %q from %d: %d, not %d", name, patterns, from, got, want)
		}
	})
}

func TestAToolIsFoundWithoutThePrefixOfItsPluginOrServer(t *testing.T) {
	p := parse(t, stated+"tools: [{match: get_order, class: read}]\n")
	for name, found := range map[string]bool{
		"get_order":                             true,
		"support-get_order":                     true,
		"mcp__shop__get_order":                  true,
		"mcp__my_shop-2__get_order":             true,
		"mcp__shop__support-get_order":          true,
		"shop__get_order":                       true,
		"functions.get_order":                   true,
		"shop.v2.get_order":                     true,
		"shop/get_order":                        true,
		"default_api:get_order":                 true,
		"functions.mcp__shop__get_order":        true,
		"":                                      false,
		"-":                                     false,
		"mcp__":                                 false,
		"mcp__shop__":                           false,
		"get_order-":                            false,
		"get_order.v2":                          false,
		"forget_order":                          false,
		"GET_ORDER":                             false,
		"a.b.c.d.get_order":                     false, // more prefixes than any framework sends
		"do-not-get_order":                      false, // a plugin's name has no hyphen
		strings.Repeat("x", 5000):               false,
		strings.Repeat("-", 5000) + "get_order": false,
	} {
		assert.Equal(t, found, p.Tool(name) != nil, name)
	}
}

func TestAnEarlierRuleWinsWhateverFormOfTheNameItMatches(t *testing.T) {
	p := parse(t, stated+`tools:
- {match: get_secret, class: act}
- {match: "mcp__vault__*", class: read}
- {match: "get_*", class: read}
- {match: "*", class: other}
`)
	assert.Equal(t, "get_secret", p.Tool("mcp__vault__get_secret").Match)
	assert.Equal(t, "mcp__vault__*", p.Tool("mcp__vault__get_time").Match)
	assert.Equal(t, "get_*", p.Tool("shop-get_order").Match)
	assert.Equal(t, "*", p.Tool("shop-put_order").Match)
}

func TestAToolNamedInAReconcileWithIsReconcileUnlessARuleSaysOtherwise(t *testing.T) {
	p := parse(t, stated+`tools:
- {match: pay, class: act, reconcile_with: [payments_lookup, get_payment, "look_*", ledger_read]}
- {match: pay_again, class: act, reconcile_with: [payments_lookup]}
- {match: "get_*", class: read}
- {match: look_here, repeat: 0}
- {match: elsewhere, repeat: 0}
`)
	lookup := p.Tool("mcp__payments__payments_lookup")
	require.NotNil(t, lookup)
	assert.Equal(t, ClassReconcile, lookup.Class)
	assert.True(t, lookup.Implied)
	assert.Equal(t, ClassReconcile, p.Tool("ledger_read").Class)
	assert.Equal(t, ClassRead, p.Tool("get_payment").Class, "a rule says otherwise")
	assert.True(t, p.Tool("pay").IsReconciledBy("get_payment"), "but it settles the act all the same")

	here := p.Tool("look_here")
	assert.Equal(t, ClassReconcile, here.Class, "the rule says nothing of the class")
	assert.False(t, here.Implied)
	assert.Equal(t, 0, here.RepeatOr(3))
	assert.Equal(t, ClassUnset, p.Tool("elsewhere").Class)
	assert.Same(t, here, p.Tool("look_here"))
}

func TestNoRuleAtAllAnswersAllQuestions(t *testing.T) {
	var none *Tool
	assert.Equal(t, 3, none.RepeatOr(3))
	assert.False(t, none.IsReconciledBy("a"))
	assert.False(t, none.IsUndoneBy("a"))
	assert.Equal(t, int64(0), (*Price)(nil).Cost(1, 1, 1))
	got, ok := (*Template)(nil).Expand([]byte("x"), nil)
	assert.False(t, ok)
	assert.Equal(t, "x", string(got))
	assert.Empty(t, (*Template)(nil).String())
}

func TestTheFirstLimitsThatMatchHold(t *testing.T) {
	p := parse(t, stated+`limits:
- {match: {agent: support, task_type: refund}, steps: 1}
- {match: {agent: "sup*", task_type: "re*"}, steps: 2}
- {match: {agent: support}, steps: 3, attempts: 9}
- {match: {task_type: chat}, steps: 4}
- {steps: 5}
- {match: {agent: never}, steps: 6}
`)
	for _, c := range []struct {
		agent, task string
		steps       int64
		attempts    int
	}{
		{"support", "refund", 1, 5},
		{"support", "return", 2, 5},
		{"support", "chat", 3, 9},
		{"support", "", 3, 9},
		{"sales", "chat", 4, 5},
		{"", "chat", 4, 5},
		{"", "", 5, 5},
		{"never", "x", 5, 5},
	} {
		assert.Equal(t, Limits{Steps: c.steps, Attempts: c.attempts}, p.Limits(c.agent, c.task), "%s %s", c.agent, c.task)
	}
}

func TestAModelIsFoundAsSentAndBehindItsLastSlash(t *testing.T) {
	p := parse(t, stated+`prices:
- {model: "gpt-4o-mini*", input: 1, output: 1}
- {model: "openrouter/*", input: 2, output: 2}
- {model: "gpt-4o*", input: 3, output: 3}
`)
	for model, want := range map[string]string{
		"gpt-4o-mini-2024": "gpt-4o-mini*", "openrouter/openai/gpt-4o-mini": "gpt-4o-mini*", "openrouter/openai/gpt-4o": "openrouter/*",
		"openai/gpt-4o": "gpt-4o*", "gpt-4o": "gpt-4o*", "gpt-4": "", "": "", "/": "",
	} {
		got := ""
		if price := p.Price(model); price != nil {
			got = price.Model
		}
		assert.Equal(t, want, got, model)
	}
	assert.Equal(t, p.Price("gpt-4o").Input, p.Price("gpt-4o").Cached, "cached tokens cost as input where nothing is stated")
}

func TestEnumsHaveTheNamesOfThePolicy(t *testing.T) {
	assert.Equal(t, "act", ClassAct.String())
	assert.Equal(t, "other", ClassOther.String())
	assert.Empty(t, ClassUnset.String())
	assert.Empty(t, Class(200).String())
	assert.Equal(t, "escalate", OnUnknownEscalate.String())
	assert.Equal(t, "critical", SeverityCritical.String())
	assert.Equal(t, "mask", RedactionModeMask.String())
	assert.Equal(t, "pseudonym", TreatmentPseudonym.String())
}

// benchPolicy has 300 rules for tools beside those of the example.
func benchPolicy(tb testing.TB) *Policy {
	var b strings.Builder
	b.WriteString(stated + "tools:\n")
	for i := range 100 {
		fmt.Fprintf(&b, "- {match: tool_%d, class: act}\n- {match: \"group_%d_*\", class: read}\n- {match: \"*_suffix_%d\", class: read}\n", i, i, i)
	}
	b.WriteString("- {match: pay, class: act, reconcile_with: [payments_lookup]}\n- {match: \"get_*\", class: read}\n")
	b.WriteString("limits:\n- {match: {agent: a}, steps: 1}\n- {match: {agent: \"s*\", task_type: \"r*\"}, steps: 1}\nprices:\n- {model: \"gpt-4o*\", input: 2.5, output: 10}\n")
	return parse(tb, b.String())
}

func TestMatchingDoesNotAllocate(t *testing.T) {
	p := benchPolicy(t)
	for _, name := range []string{"tool_77", "support-get_order", "mcp__shop__get_order", "payments_lookup", "unheard_of", strings.Repeat("a-", 4000)} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { p.Tool(name) }), name)
	}
	act := p.Tool("pay")
	assert.Zero(t, testing.AllocsPerRun(100, func() { act.IsReconciledBy("mcp__x__payments_lookup") }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.Limits("support", "refund") }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.Price("openai/gpt-4o-mini").Cost(1000, 10, 100) }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.Retention("acme") }))
}

func BenchmarkTool(b *testing.B) {
	p := benchPolicy(b)
	for _, c := range []struct{ name, tool string }{
		{"exact", "tool_77"},
		{"glob", "get_order"},
		{"plugin", "support-get_order"},
		{"mcp", "mcp__shop__get_order"},
		{"implied", "payments_lookup"},
		{"miss", "unheard_of"},
		{"hostile", strings.Repeat("a-", 4000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Tool(c.tool)
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				p.Tool("support-get_order")
			}
		})
	})
}

func BenchmarkLimits(b *testing.B) {
	p := benchPolicy(b)
	b.ReportAllocs()
	for b.Loop() {
		p.Limits("support", "refund")
	}
}

func BenchmarkCost(b *testing.B) {
	p := benchPolicy(b)
	b.ReportAllocs()
	for b.Loop() {
		p.Price("gpt-4o-2024-11-20").Cost(12_345, 1_000, 678)
	}
}
