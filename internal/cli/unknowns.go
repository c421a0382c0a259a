package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/steptrail/steptrail/query/api"
)

// WriteUnknowns writes what is known of each unknown outcome, and below it what
// is to be done next or how it was settled.
func WriteUnknowns(out io.Writer, c Colours, list api.UnknownList) error {
	w := bufio.NewWriter(out)
	if len(list.Unknowns) == 0 {
		fmt.Fprintln(w, "no unknown outcomes")
		return w.Flush()
	}
	for i := range list.Unknowns {
		writeUnknown(w, c, &list.Unknowns[i])
	}
	if list.NextCursor != "" {
		fmt.Fprintf(w, "%s\n", c.faint("there are more: --cursor "+clean(list.NextCursor)))
	}
	return w.Flush()
}

// WriteUnknown writes one unknown outcome as WriteUnknowns does.
func WriteUnknown(out io.Writer, c Colours, u *api.Unknown) error {
	w := bufio.NewWriter(out)
	writeUnknown(w, c, u)
	return w.Flush()
}

func writeUnknown(w io.Writer, c Colours, u *api.Unknown) {
	what := clean(u.Tool)
	if u.Target != "" {
		what += " on " + short(u.Target, 60)
	}
	status := c.state(pad(string(u.Status), 8))
	if u.Overdue {
		status = c.paint("31", clean(string(u.Status))+", overdue")
	}
	fmt.Fprintf(w, "%s  %s  %s  attempt %d, run %s\n", clock(api.Timestamp(u.Since)), status, c.bold(what), u.Attempt, short(u.RunID, 60))
	if u.Key != "" {
		fmt.Fprintf(w, "    key %s\n", short(u.Key, 100))
	}
	if next := nextOf(u); next != "" {
		fmt.Fprintf(w, "    %s\n", next)
	}
	if s := u.Settled; s != nil {
		fmt.Fprintf(w, "    %s\n", settledAs(s))
	}
	if u.ID != "" {
		fmt.Fprintf(w, "    %s\n", c.faint(clean(u.ID)))
	}
}

// nextOf says what the policy asks for, and until when.
func nextOf(u *api.Unknown) string {
	if u.Next == nil {
		return ""
	}
	var s string
	switch u.Next.Action {
	case api.UnknownNextActionReplay:
		s = "next: run it again under the same key"
	case api.UnknownNextActionEscalate:
		s = "next: ask a person"
	case api.UnknownNextActionReconcile:
		s = "next: look whether it took effect"
		if len(u.Next.ReconcileWith) > 0 {
			s += ", with " + short(strings.Join(u.Next.ReconcileWith, " or "), 100)
		}
	default:
		s = "next: " + clean(string(u.Next.Action))
	}
	if u.DueAt != nil {
		s += ", due " + clock(api.Timestamp(*u.DueAt))
	}
	return s
}

func settledAs(s *api.Settled) string {
	way := "either way"
	switch s.Result {
	case api.SettledResultApplied:
		way = "as applied"
	case api.SettledResultNotApplied:
		way = "as not applied"
	case api.SettledResultEmpty:
	}
	by := map[api.SettledBy]string{
		api.SettledByReconcile: "by a look in the run", api.SettledByReplay: "by a replay under its key", api.SettledByPerson: "by a person in the run",
		api.SettledByGate: "by the gate", api.SettledByResolution: "by " + short(s.Actor, 60),
	}[s.By]
	line := fmt.Sprintf("settled %s %s, %s", way, by, clock(api.Timestamp(s.At)))
	if s.Note != "" {
		line += ": " + short(s.Note, 200)
	}
	return line
}
