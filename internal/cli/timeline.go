package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/steptrail/steptrail/query/api"
)

// WriteRun writes a run's history: a head, a line per step with its attempts
// below, and what was found.
func WriteRun(out io.Writer, c Colours, h api.History) error {
	t := timeline{w: bufio.NewWriter(out), c: c, start: h.Run.StartedAt, agent: h.Run.Agent}
	t.head(&h.Run)
	fmt.Fprintln(t.w)
	byID := map[string]*api.Finding{}
	for i := range h.Findings {
		byID[h.Findings[i].ID] = &h.Findings[i]
	}
	t.named = namedIn(h.Findings)
	for i := range h.Steps {
		t.step(&h.Steps[i], byID)
	}
	t.findings(h.Findings)
	t.unknowns(h.Unknowns)
	return t.w.Flush()
}

type timeline struct {
	w     *bufio.Writer
	c     Colours
	start api.Timestamp
	agent string
	named names
}

func (t *timeline) head(r *api.Run) {
	fmt.Fprintf(t.w, "run %s  %s, %s\n", t.c.bold(clean(r.RunID)), t.c.state(string(r.Status)), t.c.state(string(r.Outcome)))
	facts := []string{clock(r.StartedAt) + " UTC", span(r.DurationMs)}
	for _, f := range [][2]string{{"agent", r.Agent}, {"task", r.TaskType}, {"user", r.User}, {"session", r.SessionID}, {"started by", r.ParentRunID}} {
		if f[1] != "" {
			facts = append(facts, f[0]+" "+short(f[1], 60))
		}
	}
	fmt.Fprintln(t.w, "  "+strings.Join(facts, " · "))
	fmt.Fprintln(t.w, "  "+counts(r))
	if usage := usageOf(r); usage != "" {
		fmt.Fprintln(t.w, "  "+usage)
	}
	if len(r.Traces) > 1 {
		fmt.Fprintf(t.w, "  %d traces\n", len(r.Traces))
	}
}

func counts(r *api.Run) string {
	var parts []string
	for _, k := range []struct {
		name string
		n    api.KindCount
	}{{"think", r.Counts.Think}, {"read", r.Counts.Read}, {"act", r.Counts.Act}, {"human", r.Counts.Human}, {"reconcile", r.Counts.Reconcile}, {"other", r.Counts.Other}} {
		if k.n.Steps == 0 && k.n.Attempts == 0 {
			continue
		}
		s := fmt.Sprintf("%s: %s, %s", k.name, plural(k.n.Steps, "step"), plural(k.n.Attempts, "attempt"))
		if k.n.Errors > 0 {
			s += fmt.Sprintf(" (%d failed or unknown)", k.n.Errors)
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return "no steps"
	}
	return strings.Join(parts, " · ")
}

func usageOf(r *api.Run) string {
	var parts []string
	if u := r.Tokens.PerAttempt; u != nil {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", u.Input, u.Output))
	}
	if m := r.CostUSD.PerAttempt; m != nil {
		parts = append(parts, usd(api.Money(*m))+" "+clean(string(r.CostUSD.Source)))
	}
	return strings.Join(parts, " · ")
}

func (t *timeline) step(s *api.Step, findings map[string]*api.Finding) {
	first := &s.Attempts[0]
	what := s.Tool
	if what == "" && first.Model != nil {
		what = first.Model.Requested
	}
	if what == "" && first.HandoffTo != "" {
		what = "hand-off to " + first.HandoffTo
	}
	line := fmt.Sprintf("%s  %s  %s", t.c.faint(pad(t.offset(first.StartedAt), 9)), pad(clean(string(s.Kind)), 9), t.c.bold(pad(short(what, 20), 20)))
	if s.Target != "" {
		line += "  " + short(s.Target, 40)
	}
	if s.Declared || t.named.step(s) {
		line += t.c.faint("  step " + short(s.StepID, 40))
	}
	if s.LaneName != "" && s.LaneName != t.agent {
		line += t.c.faint("  lane " + short(s.LaneName, 24))
	}
	if len(s.Attempts) == 1 {
		fmt.Fprintf(t.w, "%s  %s\n", line, t.attempt(first))
	} else {
		fmt.Fprintf(t.w, "%s  %s\n", line, plural(int64(len(s.Attempts)), "attempt"))
		for i := range s.Attempts {
			a := &s.Attempts[i]
			fmt.Fprintf(t.w, "%s%s  attempt %d  %s\n", indent, t.c.faint(pad(t.offset(a.StartedAt), 9)), a.Number, t.attempt(a))
		}
	}
	for _, id := range s.Findings {
		if f := findings[id]; f != nil && f.Status != api.FindingStatusWithdrawn {
			mark := t.c.state(string(f.Severity))
			if f.Status == api.FindingStatusResolved {
				mark = t.c.state(string(f.Status))
			}
			fmt.Fprintf(t.w, "%s%s %s\n", indent, mark, clean(f.Kind))
		}
	}
}

const indent = "           "

// attempt says how one attempt ended, after how long, and why.
func (t *timeline) attempt(a *api.Attempt) string {
	outcome := string(a.Outcome)
	if outcome == "" {
		outcome = "running"
	}
	line := t.c.state(pad(outcome, 8)) + "  " + span(a.DurationMs)
	if a.Gate != "" {
		line += "  gate " + clean(string(a.Gate))
	}
	if a.Key != "" {
		line += t.c.faint("  key " + short(a.Key, 40))
	}
	if !a.Seen {
		line += t.c.faint("  asked for, never seen")
	}
	if e := errorOf(a); e != "" {
		line += "  " + e
	}
	if a.Tokens != nil {
		line += t.c.faint(fmt.Sprintf("  %d in, %d out", a.Tokens.Input, a.Tokens.Output))
	}
	return line
}

func errorOf(a *api.Attempt) string {
	switch {
	case a.ErrorType != "" && strings.HasPrefix(a.Error, a.ErrorType+":"): // some SDKs put the type before the text
		return short(a.Error, 140)
	case a.ErrorType != "" && a.Error != "":
		return short(a.ErrorType, 40) + ": " + short(a.Error, 100)
	case a.ErrorType != "":
		return short(a.ErrorType, 40)
	default:
		return short(a.Error, 100)
	}
}

func (t *timeline) findings(found []api.Finding) {
	if len(found) == 0 {
		fmt.Fprintf(t.w, "\n%s\n", t.c.bold("nothing found"))
		return
	}
	fmt.Fprintf(t.w, "\n%s\n", t.c.bold("findings"))
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b api.Finding) int { return cmp.Or(weight(&b)-weight(&a), cmp.Compare(a.Kind, b.Kind)) })
	for i := range found {
		f := &found[i]
		fmt.Fprintf(t.w, "  %s  %s  %s  %s\n", t.c.state(pad(string(f.Severity), 8)), t.c.state(pad(string(f.Status), 9)), pad(clean(f.Kind), 20), clean(f.Message))
	}
}

// weight puts what is open and severe first.
func weight(f *api.Finding) int {
	n := 0
	switch f.Severity {
	case api.FindingSeverityCritical:
		n = 2
	case api.FindingSeverityWarning:
		n = 1
	case api.FindingSeverityInfo:
	}
	if f.Status == api.FindingStatusOpen {
		n += 3
	}
	return n
}

func (t *timeline) unknowns(list []api.Unknown) {
	open := 0
	for i := range list {
		if list[i].Status == api.UnknownStatusOpen {
			open++
		}
	}
	if open > 0 {
		fmt.Fprintf(t.w, "\n%s\n", t.c.state("unknown")+": "+plural(int64(open), "act")+" whose outcome nothing has settled")
	}
}

// offset is the time since the run began.
func (t *timeline) offset(at api.Timestamp) string {
	d := float64(at-t.start) / 1e6
	if d < 0 {
		return "-" + span(-d)
	}
	return "+" + span(d)
}
