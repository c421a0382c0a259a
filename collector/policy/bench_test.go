package policy_test

import "testing"

// BenchmarkTool asks the shipped policy: the rules that most deployments begin with.
func BenchmarkTool(b *testing.B) {
	p := parse(b)
	for _, name := range []string{"issue_refund", "support-get_order", "mcp__github__create_issue", "unheard_of"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Tool(name)
			}
		})
	}
}
