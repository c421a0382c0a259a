package cjson

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLabelledLoopsHaveThreeEqualCalls reads the labelled runs beside this
// checkout: where a loop is expected, three calls of one tool have one form of
// arguments and one of results; where none is, no three in a row have.
func TestLabelledLoopsHaveThreeEqualCalls(t *testing.T) {
	files, err := filepath.Glob("../../../shared/cases/*loop-*.json")
	if err != nil || len(files) == 0 {
		t.Skip("no labelled runs beside this checkout")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			Runs []struct {
				RunID string `json:"run_id"`
				Steps []struct {
					Kind, Tool, Lane string
					ArgsRaw          string `json:"args_raw"`
					Args, Result     json.RawMessage
				}
			}
			Expect struct{ Findings []struct{ Kind, Run string } }
		}
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		for _, run := range c.Runs {
			expected := false
			for _, f := range c.Expect.Findings {
				expected = expected || f.Run == run.RunID && (f.Kind == "loop.repeat" || f.Kind == "loop.cycle")
			}
			last, row, total, longest := map[string]string{}, map[string]int{}, map[string]int{}, 0
			for _, s := range run.Steps {
				if s.Kind == "human" {
					clear(last)
				}
				if s.Tool == "" || s.Kind == "human" || len(s.Args) == 0 && s.ArgsRaw == "" {
					continue
				}
				args := s.ArgsRaw
				if args == "" {
					args = string(s.Args)
				}
				form := s.Tool + argumentsForm(t, args) + resultForm(t, string(s.Result))
				if last[s.Lane] == form {
					row[s.Lane]++
				} else {
					row[s.Lane] = 1
				}
				last[s.Lane] = form
				total[s.Lane+form]++
				longest = max(longest, row[s.Lane])
				if expected {
					longest = max(longest, total[s.Lane+form])
				}
			}
			name := filepath.Base(file)
			switch {
			case expected && longest < 3 && longest > 0 && !strings.Contains(name, "content-off"):
				t.Errorf("%s %s: a loop of calls that are not equal", name, run.RunID)
			case !expected && longest >= 3 && strings.HasPrefix(name, "noloop") && !strings.Contains(name, "own-threshold") &&
				!strings.Contains(name, "two-identical"):
				t.Errorf("%s %s: %d equal calls in a row where none are expected", name, run.RunID, longest)
			}
		}
	}
}
