package detect

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/steptrail/steptrail/internal/agent"
)

// maxShown is how many bytes of a name from a span a message shows.
const maxShown = 96

// show makes a text from a span fit for one line of a message: what is not
// printable becomes a space, what is too long is cut.
func show(s string) string {
	cut := s
	if len(cut) > maxShown {
		cut = cut[:maxShown]
		for len(cut) > 0 && !utf8.ValidString(cut[max(0, len(cut)-utf8.UTFMax):]) && len(s)-len(cut) < maxShown {
			cut = cut[:len(cut)-1]
		}
	}
	cut = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, cut)
	if len(s) > maxShown {
		cut += "…"
	}
	return cut
}

// what names a tool and its target.
func what(tool, target string) string {
	name := show(tool)
	if name == "" {
		name = "a tool without a name"
	}
	if target != "" {
		name += " on " + show(target)
	}
	return name
}

// lapse gives a duration in nanoseconds as a person says it: 0.8 s, 12 m 3 s.
func lapse(ns int64) string {
	d := time.Duration(max(ns, 0))
	switch {
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', precision(d), 64) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " m " + strconv.Itoa(int(d.Seconds())%60) + " s"
	}
	return strconv.Itoa(int(d.Hours())) + " h " + strconv.Itoa(int(d.Minutes())%60) + " m"
}

func precision(d time.Duration) int {
	switch {
	case d < 100*time.Millisecond:
		return 3
	case d < 10*time.Second:
		return 1
	}
	return 0
}

// times gives once, twice, 3 times.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// ended says how an attempt ended: succeeded, timed out after 30 s.
func ended(a *agent.Attempt) string {
	took := ""
	if d := a.End - a.Start; d > 0 {
		took = " after " + lapse(d)
	}
	why := ""
	switch {
	case a.StatusCode != 0:
		why = " (" + strconv.Itoa(int(a.StatusCode)) + ")"
	case a.ErrorType != "":
		why = " (" + show(a.ErrorType) + ")"
	}
	switch a.Outcome {
	case agent.OutcomeOK:
		return "succeeded"
	case agent.OutcomeError:
		return "failed" + took + why
	case agent.OutcomeUnknown:
		if isTimeout(a) {
			return "timed out" + took
		}
		return "ended without a clear answer" + took + why
	case agent.OutcomeRefused:
		return "was turned away"
	case agent.OutcomeDeferred:
		return "was put off"
	default:
		return "has not ended"
	}
}

func isTimeout(a *agent.Attempt) bool {
	if a.StatusCode == 408 || a.StatusCode == 504 {
		return true
	}
	for _, s := range [...]string{a.ErrorType, a.ErrorText} {
		s = strings.ToLower(s)
		if strings.Contains(s, "timeout") || strings.Contains(s, "timed out") || strings.Contains(s, "deadline") {
			return true
		}
	}
	return false
}

// attemptOf names an attempt among those of its step: attempt 2 of step refund.
func attemptOf(st *agent.RunStep, a *agent.Attempt) string {
	if len(st.Attempts) > 1 {
		return "attempt " + strconv.Itoa(int(a.Number)) + " of step " + show(st.ID)
	}
	return "step " + show(st.ID)
}

// count gives a number with its noun: 1 call, 12 calls.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
