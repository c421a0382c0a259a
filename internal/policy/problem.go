package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrNoRedactionKey is in the error of Parse where redaction.key names an environment variable that is not set, or is empty. A
// caller that can make a key passes it with WithRedactionKey and parses again; all other problems are then still reported.
var ErrNoRedactionKey = errors.New("no redaction key")

// maxProblems bounds the problems that one error lists.
const maxProblems = 200

// Problem is one thing that is wrong with a policy. The error of Parse joins all of them.
type Problem struct {
	// Key is the path of the key, as in tools[3].class. It is empty where the file as a whole is meant.
	Key string
	// Line counts from 1; 0 where there is none.
	Line int
	// Err says what is wrong and what is allowed. Values are shown as the file has them: neither the
	// redaction key nor what came from the environment is in it, but where the function of WithConditionCheck says so.
	Err error
}

// Error is the key, the line and what is wrong.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(cmp.Or(p.Key, "policy"))
	if p.Line > 0 {
		fmt.Fprintf(&b, " (line %d)", p.Line)
	}
	b.WriteString(": ")
	b.WriteString(p.Err.Error())
	return b.String()
}

// Unwrap gives what is wrong, for errors.Is and errors.As.
func (p *Problem) Unwrap() error { return p.Err }

type ruleError struct {
	name string
	err  error
}

func (e *ruleError) Error() string {
	return fmt.Sprintf("rule %q does not compile: %v", e.name, e.err)
}
func (e *ruleError) Unwrap() error { return e.err }

// join puts the problems in the order of the file and makes them one error.
func join(problems []*Problem) error {
	slices.SortStableFunc(problems, func(a, b *Problem) int { return cmp.Compare(a.Line, b.Line) })
	more := len(problems) - maxProblems
	if more > 0 {
		problems = problems[:maxProblems]
	}
	errs := make([]error, 0, len(problems)+1)
	for _, p := range problems {
		errs = append(errs, p)
	}
	if more > 0 {
		errs = append(errs, fmt.Errorf("policy: %d more problems", more))
	}
	return errors.Join(errs...)
}

// quote shows a value as it is written in the file, cut to a readable length.
func quote(s string) string {
	const most = 80
	r := []rune(s)
	if len(r) > most {
		return strconv.Quote(string(r[:most])) + "…"
	}
	return strconv.Quote(s)
}

// choice lists what is allowed: "a, b or c".
func choice(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
