package cli

import (
	"bufio"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/steptrail/steptrail/query/api"
)

// WriteRuns writes a line per run.
func WriteRuns(out io.Writer, c Colours, list api.RunList) error {
	w := bufio.NewWriter(out)
	if len(list.Runs) == 0 {
		fmt.Fprintln(w, "no runs")
		return w.Flush()
	}
	width := len("RUN")
	for i := range list.Runs {
		width = max(width, len([]rune(short(list.Runs[i].RunID, 44))))
	}
	fmt.Fprintln(w, c.bold(fmt.Sprintf("%s  %s  %s  %s  %s  %s  %s", pad("STARTED (UTC)", 23), pad("RUN", width), pad("AGENT", 18), pad("STATUS", 8), pad("OUTCOME", 10), pad("TOOK", 8), "WHAT")))
	for i := range list.Runs {
		r := &list.Runs[i]
		fmt.Fprintf(w, "%s  %s  %s  %s  %s  %s  %s\n", clock(r.StartedAt), pad(short(r.RunID, 44), width), pad(short(r.Agent, 18), 18),
			c.state(pad(string(r.Status), 8)), c.state(pad(string(r.Outcome), 10)), pad(span(r.DurationMs), 8), what(c, r))
	}
	if list.NextCursor != "" {
		fmt.Fprintf(w, "%s\n", c.faint("there are more: --cursor "+clean(list.NextCursor)))
	}
	return w.Flush()
}

// what says in a few words what a run did and what was found.
func what(c Colours, r *api.Run) string {
	s := fmt.Sprintf("%s, %s, %s", plural(r.Counts.Think.Attempts, "model call"), plural(r.Counts.Read.Attempts, "read"), plural(r.Counts.Act.Attempts, "act"))
	if len(r.Findings) > 0 {
		s += "; found " + findingCounts(r.Findings)
	}
	if r.UnknownOpen > 0 {
		s += "; " + c.paint("33", plural(r.UnknownOpen, "open unknown"))
	}
	return s
}

func findingCounts(found map[string]int64) string {
	kinds := make([]string, 0, len(found))
	for k := range found {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	for i, k := range kinds {
		if n := found[k]; n > 1 {
			kinds[i] = fmt.Sprintf("%s x%d", clean(k), n)
		} else {
			kinds[i] = clean(k)
		}
	}
	return strings.Join(kinds, ", ")
}

// WriteFindings writes a line per finding, its message below.
func WriteFindings(out io.Writer, c Colours, list api.FindingList) error {
	w := bufio.NewWriter(out)
	if len(list.Findings) == 0 {
		fmt.Fprintln(w, "no findings")
		return w.Flush()
	}
	for i := range list.Findings {
		f := &list.Findings[i]
		fmt.Fprintf(w, "%s  %s  %s  %s  run %s\n", clock(f.DetectedAt), c.state(pad(string(f.Severity), 8)), c.state(pad(string(f.Status), 9)), pad(clean(f.Kind), 20), short(f.RunID, 60))
		fmt.Fprintf(w, "    %s\n", clean(f.Message))
		fmt.Fprintf(w, "    %s\n", c.faint(clean(f.ID)))
	}
	if list.NextCursor != "" {
		fmt.Fprintf(w, "%s\n", c.faint("there are more: --cursor "+clean(list.NextCursor)))
	}
	return w.Flush()
}
