package redact

import (
	"fmt"
	"strings"
	"testing"
)

// TestEveryCellOfALongTableGoes: tables have more rows than fit into a buffer.
func TestEveryCellOfALongTableGoes(t *testing.T) {
	for _, name := range []string{"password", "db_token"} { // on the key list, and not
		t.Run(name, func(t *testing.T) {
			var in, want strings.Builder
			fmt.Fprintf(&in, "user,%s,note\n", name)
			fmt.Fprintf(&want, "user,%s,note\n", name)
			for n := range 3000 {
				fmt.Fprintf(&in, "u%d,b1c2d3e4f5a6b7c%d,x\n", n, n)
				fmt.Fprintf(&want, "u%d,<SECRET>,x\n", n)
			}
			if got := redacted(t, newTenant(t, nil), in.String()); got != want.String() {
				t.Errorf("%d cells are left, the text begins %.100q", strings.Count(got, "b1c2d3"), got)
			}
		})
	}
}
