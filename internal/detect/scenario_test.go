package detect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/detect"
)

// scenario is one of testdata/*.txt: steps in, findings out. The format is
// described in testdata/README.md.
type scenario struct {
	caseFile
	ignore []string      // kinds that are not scored
	later  time.Duration // from the last end to the judgement
}

func TestEveryScenarioGetsItsFindings(t *testing.T) {
	forEachScenario(t, func(t *testing.T, s *scenario) {
		t.Helper()
		judgeScenario(t, s, nil)
	})
}

func TestEveryScenarioGetsItsFindingsInAnyOrder(t *testing.T) {
	forEachScenario(t, func(t *testing.T, s *scenario) {
		t.Helper()
		judgeScenario(t, s, rand.New(rand.NewPCG(7, 7))) // not for secrets
	})
}

// Every kind is shown from both sides: raised in one scenario at least, and in
// its own file not raised in another.
func TestEveryKindIsShownFromBothSides(t *testing.T) {
	raised, not := map[string]bool{}, map[string]bool{}
	forEachScenario(t, func(_ *testing.T, s *scenario) {
		own := strings.TrimSuffix(filepath.Base(s.Policy.file), ".txt")
		for _, w := range s.Expect.Findings {
			raised[w.Kind] = true
		}
		kinds := []string{own}
		if family, ok := strings.CutSuffix(own, ".all"); ok {
			kinds = slices.DeleteFunc(slices.Clone(detect.Kinds()), func(k string) bool { return !strings.HasPrefix(k, family+".") })
		}
		for _, k := range kinds {
			if !slices.ContainsFunc(s.Expect.Findings, func(w wanted) bool { return w.Kind == k }) {
				not[k] = true
			}
		}
	})
	for _, k := range detect.Kinds() {
		if k == "rule" {
			continue // see TestAPolicysRuleIsRaisedOncePerRun
		}
		require.True(t, raised[k], "no scenario raises %s", k)
		require.True(t, not[k], "no scenario of its file leaves %s out", k)
	}
}

func forEachScenario(t *testing.T, run func(*testing.T, *scenario)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, s := range parseScenarios(t, path, string(data)) {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txt")+"/"+s.Name, func(t *testing.T) { run(t, s) })
		}
	}
}

const scenarioBase = 1_760_000_000_000_000_000

func judgeScenario(t *testing.T, s *scenario, random *rand.Rand) {
	t.Helper()
	m := spanMaker{c: &s.caseFile, base: scenarioBase}
	split := 1
	if random != nil {
		split = 3
	}
	p := process(t, policyText(t, []caseFile{s.caseFile}, "5m"), requests(m.convert(), split, random))
	p.input.Quiet, p.input.Silent = true, true
	runs := agent.Runs(p.input)
	var acts []agent.Act
	last := int64(0)
	for _, r := range runs {
		acts = append(acts, agent.Acts(r)...)
		last = max(last, r.Ended)
	}
	results := map[string]*runResult{}
	for _, r := range runs {
		now := last + int64(s.later)
		found := detect.Run(detect.Input{Run: r, Under: under(acts), Policy: p.policy, Now: now, LastArrival: last})
		results[r.ID] = &runResult{r, found, agent.Summarise(r, found, agent.SummaryTime{Now: now, LastArrival: last, Quiet: 2e9})}
		for i := range found {
			requireSound(t, &found[i])
		}
	}
	_, _, problems := judgeCase(&s.caseFile, results)
	require.Empty(t, problems)
}

// requireSound checks what holds for every finding.
func requireSound(t *testing.T, f *agent.Finding) {
	t.Helper()
	require.NotZero(t, f.ID)
	require.NotEmpty(t, f.Evidence, f.Kind)
	require.NotZero(t, f.Severity, f.Kind)
	require.NotZero(t, f.Status, f.Kind)
	require.NotZero(t, f.DetectedAt, f.Kind)
	require.NotEmpty(t, f.Message, f.Kind)
	require.NotContains(t, f.Message, "\n")
	require.Less(t, len(f.Message), 2000)
}

func parseScenarios(t *testing.T, path, text string) (all []*scenario) {
	t.Helper()
	var s *scenario
	var run *caseRun
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch word {
		case "", "#":
			continue
		case "==":
			s = &scenario{later: time.Minute}
			s.Name, s.Policy.file = rest, path
			s.Expect.Absent = []string{"*"}
			all = append(all, s)
			run = nil
			continue
		}
		where := fmt.Sprintf("%s:%d: %s", path, n+1, line)
		require.NotNil(t, s, where)
		switch word {
		case "policy":
			file := s.Policy.file
			require.NoError(t, json.Unmarshal([]byte(rest), &s.Policy), where)
			s.Policy.file = file
		case "later":
			d, err := time.ParseDuration(rest)
			require.NoError(t, err, where)
			s.later = d
		case "ignore":
			s.ignore = append(s.ignore, strings.Fields(rest)...)
			s.Expect.Absent = nil
			for _, k := range detect.Kinds() {
				if !slices.Contains(s.ignore, k) {
					s.Expect.Absent = append(s.Expect.Absent, k)
				}
			}
		case "open":
			v, err := strconv.ParseInt(rest, 10, 64)
			require.NoError(t, err, where)
			s.Expect.UnknownOpen = &v
		case "attempts":
			id, count, _ := strings.Cut(rest, " ")
			v, err := strconv.Atoi(count)
			require.NoError(t, err, where)
			if s.Expect.Attempts == nil {
				s.Expect.Attempts = map[string]int{}
			}
			s.Expect.Attempts[id] = v
		case "run":
			id, options, _ := strings.Cut(rest, " ")
			s.Runs = append(s.Runs, caseRun{ID: id, Agent: "clerk", TaskType: "test"})
			run = &s.Runs[len(s.Runs)-1]
			run.Root.Mode = options
		case "want":
			s.Expect.Findings = append(s.Expect.Findings, parseWanted(t, where, rest, s))
		default:
			if run == nil {
				s.Runs = append(s.Runs, caseRun{ID: "r", Agent: "clerk", TaskType: "test"})
				run = &s.Runs[0]
			}
			step := parseStep(t, where, word, rest)
			for range max(1, step.Times) {
				run.Steps = append(run.Steps, step)
				step.Start += 1000
			}
		}
	}
	return all
}

// parseWanted reads: kind, severity, status, a part of the message in quotes, and
// `in RUN`.
func parseWanted(t *testing.T, where, text string, s *scenario) wanted {
	t.Helper()
	w := wanted{Run: "r"}
	if len(s.Runs) > 0 {
		w.Run = s.Runs[0].ID
	}
	head, quoted, hasMessage := strings.Cut(text, `"`)
	if hasMessage {
		end := strings.LastIndexByte(quoted, '"')
		require.GreaterOrEqual(t, end, 0, where)
		w.Message = quoted[:end]
		head += " " + quoted[end+1:]
	}
	words := strings.Fields(head)
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "info", "warning", "critical":
			w.Severity = words[i]
		case "open", "resolved":
			w.Status = words[i]
		case "in":
			i++
			w.Run = words[i]
		default:
			require.Empty(t, w.Kind, where)
			w.Kind = words[i]
		}
	}
	return w
}

// parseStep reads: time, kind, tool or model, arguments in JSON, -> result in
// JSON, !error type and message, and name=value.
func parseStep(t *testing.T, where, at, text string) caseStep {
	t.Helper()
	s := caseStep{Dur: 50, Start: milliseconds(t, where, at)}
	s.Kind, text, _ = strings.Cut(text, " ")
	s.Tool, text, _ = strings.Cut(strings.TrimSpace(text), " ")
	if s.Kind == "think" {
		s.Model = s.Tool
	}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		switch {
		case text[0] == '{' || text[0] == '[' || text[0] == '"':
			s.Args, text = jsonValue(t, where, text)
		case strings.HasPrefix(text, "->"):
			s.Result, text = jsonValue(t, where, strings.TrimSpace(text[2:]))
		case text[0] == '!':
			s.Error = &caseError{}
			s.Error.Type, text, _ = strings.Cut(text[1:], " ")
			if strings.HasPrefix(text, `"`) {
				var raw json.RawMessage
				raw, text = jsonValue(t, where, text)
				require.NoError(t, json.Unmarshal(raw, &s.Error.Message), where)
			}
		default:
			name, value, ok := strings.Cut(text, "=")
			require.True(t, ok, where)
			if value != "" && (value[0] == '[' || value[0] == '"' || value[0] == '{') {
				var raw json.RawMessage
				raw, text = jsonValue(t, where, value)
				value = string(raw)
			} else {
				value, text, _ = strings.Cut(value, " ")
			}
			setField(t, where, &s, name, value)
		}
	}
	return s
}

func jsonValue(t *testing.T, where, text string) (json.RawMessage, string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	require.NoError(t, d.Decode(&raw), where)
	return raw, text[d.InputOffset():]
}

func milliseconds(t *testing.T, where, text string) float64 {
	t.Helper()
	if text == "0" {
		return 0
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err, where)
	return float64(d) / 1e6
}

func setField(t *testing.T, where string, s *caseStep, name, value string) {
	t.Helper()
	number := func() int64 {
		n, err := strconv.ParseInt(value, 10, 64)
		require.NoError(t, err, where)
		return n
	}
	switch name {
	case "id":
		s.ID = value
	case "try":
		s.Attempt = number()
	case "target":
		s.Target = value
	case "key":
		s.Key = value
	case "gate":
		s.Gate = value
	case "outcome":
		s.Outcome = value
	case "lane":
		s.Lane = value
	case "parent":
		s.Parent = value
	case "dur":
		s.Dur = milliseconds(t, where, value)
	case "in":
		n := number()
		s.TokensIn = &n
	case "out":
		n := number()
		s.TokensOut = &n
	case "cost":
		f, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, where)
		s.Cost = &f
	case "said":
		s.Output = json.RawMessage(`[["assistant",` + value + `]]`)
	case "read":
		s.Input = json.RawMessage(`[["user",` + value + `]]`)
	case "output":
		s.Output = json.RawMessage(value)
	case "input":
		s.Input = json.RawMessage(value)
	case "span":
		require.Equal(t, "gate", value, where)
		s.GateOnly = true
	case "resend":
		s.Resend = int(number())
	case "times":
		s.Times = int(number())
	default:
		require.Contains(t, name, ".", where)
		if s.Attributes == nil {
			s.Attributes = map[string]any{}
		}
		if strings.HasPrefix(value, `"`) {
			require.NoError(t, json.Unmarshal([]byte(value), &value), where)
		}
		s.Attributes[name] = value
	}
}
