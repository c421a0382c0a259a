package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"golang.org/x/sync/errgroup"
)

// labelled is one labelled case.
type labelled struct {
	Base      int64             `json:"base_unix_nano"`
	Runs      []string          `json:"runs"`
	Debatable bool              `json:"debatable"`
	Requests  []json.RawMessage `json:"requests"`
	Expect    struct {
		Findings []struct {
			Kind     string `json:"kind"`
			Run      string `json:"run"`
			Severity string `json:"severity"`
		} `json:"findings"`
		Absent      []string       `json:"absent"`
		Attempts    map[string]int `json:"attempts"`
		UnknownOpen *int           `json:"unknown_open"`
	} `json:"expect"`
}

// Every labelled run gets the findings that it must have and none that it must
// not have, as recorded and in another order and other requests.
func TestLabelledRunsGetTheirFindings(t *testing.T) {
	for _, set := range []struct {
		archive string
		order   Disorder
	}{{"cases", Disorder{}}, {"cases", Disorder{Seed: 2, Parts: 40}}, {"cases-random", Disorder{Seed: 1, Parts: 7}}} {
		t.Run(fmt.Sprintf("%s in %d requests", set.archive, set.order.Parts), func(t *testing.T) {
			files := ReadArchive(t, set.archive)
			in := startScored(t, files["policy.yaml"])
			cases := map[string]*labelled{}
			var post errgroup.Group
			post.SetLimit(senders)
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if !strings.HasSuffix(name, ".json") {
					continue
				}
				c := &labelled{}
				require.NoError(t, json.Unmarshal(files[name], c), name)
				cases[name] = c
				post.Go(func() error { return postCase(t.Context(), in, c, set.order) })
			}
			require.NoError(t, post.Wait())
			waitSettled(t, in)
			right, scored := 0, 0
			for _, name := range slices.Sorted(maps.Keys(cases)) {
				problems := judgeLabelled(t, in, cases[name])
				if len(problems) > 0 && cases[name].Debatable {
					continue
				}
				scored++
				if len(problems) == 0 {
					right++
					continue
				}
				t.Logf("%s: %s", name, strings.Join(problems, "; "))
				for _, p := range problems {
					require.NotContains(t, p, "critical", "%s: no false critical finding", name)
				}
			}
			t.Logf("%d of %d", right, scored)
			require.GreaterOrEqual(t, 100*right, 98*scored)
		})
	}
}

func postCase(ctx context.Context, in *Instance, c *labelled, order Disorder) error {
	var requests []ptrace.Traces
	for _, raw := range c.Requests {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(raw)
		if err != nil {
			return err
		}
		moveTimes(td, time.Since(time.Unix(0, c.Base))-3*time.Hour)
		requests = append(requests, td)
	}
	return postAll(ctx, in, order.Apply(requests))
}

func judgeLabelled(t *testing.T, in *Instance, c *labelled) (problems []string) {
	t.Helper()
	var found []scoredFinding
	open := 0
	for _, id := range c.Runs {
		var r scoredRun
		if err := in.GetJSON(t.Context(), "/runs/"+url.PathEscape(id), &r); err != nil {
			return []string{err.Error()}
		}
		open += r.UnknownOpen
		of, err := findingsOfRun(t.Context(), in, id)
		require.NoError(t, err)
		found = append(found, of...)
	}
	for _, w := range c.Expect.Findings {
		if !slices.ContainsFunc(found, func(f scoredFinding) bool {
			return matchesKind(f.Kind, w.Kind) && f.RunID == w.Run && (w.Severity == "" || f.Severity == w.Severity)
		}) {
			problems = append(problems, fmt.Sprintf("missing %s in %s", w.Kind, w.Run))
		}
	}
	for _, f := range found {
		unwanted := slices.ContainsFunc(c.Expect.Absent, func(kind string) bool { return matchesKind(f.Kind, kind) })
		for _, w := range c.Expect.Findings {
			unwanted = unwanted && (!matchesKind(f.Kind, w.Kind) || f.RunID != w.Run)
		}
		if unwanted {
			problems = append(problems, fmt.Sprintf("not wanted: %s %s in %s", f.Severity, f.Kind, f.RunID))
		}
	}
	for step, want := range c.Expect.Attempts {
		run, id, ok := cutLast(step, "/")
		if !ok {
			run = c.Runs[0]
		}
		if got := attemptsOf(t, in, run, id); got != want {
			problems = append(problems, fmt.Sprintf("%d attempts of %s, not %d", got, step, want))
		}
	}
	if w := c.Expect.UnknownOpen; w != nil && *w != open {
		problems = append(problems, fmt.Sprintf("%d unknown outcomes open, not %d", open, *w))
	}
	return problems
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

func matchesKind(kind, pattern string) bool {
	family, ok := strings.CutSuffix(pattern, ".*")
	return pattern == "*" || kind == pattern || ok && strings.HasPrefix(kind, family+".")
}

func attemptsOf(t *testing.T, in *Instance, run, step string) (n int) {
	t.Helper()
	var h struct {
		Steps []struct {
			StepID   string            `json:"step_id"`
			Attempts []json.RawMessage `json:"attempts"`
		} `json:"steps"`
	}
	require.NoError(t, in.GetJSON(t.Context(), "/runs/"+url.PathEscape(run)+"/history?content=none", &h))
	for _, s := range h.Steps {
		if s.StepID == step {
			n += len(s.Attempts)
		}
	}
	return n
}
