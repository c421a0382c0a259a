package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// arguments looks paths up, joined with dots.
func arguments(pairs ...string) func([]string) (string, bool) {
	env := environment(pairs...)
	return func(path []string) (string, bool) { return env(strings.Join(path, ".")) }
}

func TestTemplates(t *testing.T) {
	for _, c := range []struct {
		name, template string
		lookup         func([]string) (string, bool)
		want           string
		ok             bool
	}{
		{"an argument", "order/{order_id}", arguments("order_id", "7731"), "order/7731", true},
		{"an argument in depth", "order/{order.id}", arguments("order.id", "7731"), "order/7731", true},
		{"several arguments", "{a}/{b}-{a}", arguments("a", "1", "b", "2"), "1/2-1", true},
		{"an argument alone", "{key}", arguments("key", "k"), "k", true},
		{"text behind it", "{key}!", arguments("key", "k"), "k!", true},
		{"no argument", "mailbox/main", arguments(), "mailbox/main", true},
		{"braces", "{{{a}}}", arguments("a", "1"), "{1}", true},
		{"names that are no identifiers", "{order-id}/{Kunden Nr}", arguments("order-id", "1", "Kunden Nr", "2"), "1/2", true},
		{"an argument is absent", "order/{order_id}", arguments("id", "7731"), "", false},
		{"one of two is absent", "{a}/{b}", arguments("a", "1"), "", false},
		{"an argument is empty", "order/{order_id}", arguments("order_id", ""), "", false},
		{"a value with braces is not expanded", "{a}", arguments("a", "{b}", "b", "x"), "{b}", true},
		{"a value that just fits", "x/{a}", arguments("a", strings.Repeat("y", MaxExpanded-2)), "x/" + strings.Repeat("y", MaxExpanded-2), true},
		{"a value that is too long", "x/{a}", arguments("a", strings.Repeat("y", MaxExpanded-1)), "", false},
		{"text behind it that is too long", "{a}/x", arguments("a", strings.Repeat("y", MaxExpanded-1)), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			template, err := compileTemplate(c.template)
			require.NoError(t, err)
			assert.Equal(t, c.template, template.String())
			got, ok := template.Expand([]byte("before "), c.lookup)
			assert.Equal(t, c.ok, ok)
			assert.Equal(t, "before "+c.want, string(got))
		})
	}
}

func TestExpandingDoesNotAllocate(t *testing.T) {
	template, err := compileTemplate("order/{order.id}/{n}")
	require.NoError(t, err)
	dst := make([]byte, 0, MaxExpanded)
	lookup := func(path []string) (string, bool) { return path[0], true }
	assert.Zero(t, testing.AllocsPerRun(100, func() { dst, _ = template.Expand(dst[:0], lookup) }))
	assert.Equal(t, "order/order/n", string(dst))
}

func FuzzTemplate(f *testing.F) {
	f.Add("order/{order.id}", "7731")
	f.Add("{{}}{a}", "")
	f.Fuzz(func(t *testing.T, source, value string) {
		template, err := compileTemplate(source)
		if err != nil {
			return
		}
		got, ok := template.Expand([]byte("x"), func(path []string) (string, bool) {
			if len(path) == 0 || len(path) > maxDepth {
				t.Fatalf("path %q", path)
			}
			return value, true
		})
		if len(got) > MaxExpanded+1 || got[0] != 'x' || !ok && len(got) != 1 {
			t.Fatalf("%q of %q: %q, %v", source, value, got, ok)
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	template, err := compileTemplate("order/{order_id}")
	require.NoError(b, err)
	dst := make([]byte, 0, MaxExpanded)
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = template.Expand(dst[:0], func([]string) (string, bool) { return "7731", true })
	}
}
