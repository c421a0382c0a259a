package query

import (
	"bufio"
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

const (
	historyRoute = "/api/v1/runs/:run_id/history"

	typeJSON   = "application/json"
	typeNDJSON = "application/x-ndjson"

	kindUnknown = "outcome.unknown"

	// writeBuffer is what is gathered before it is sent; until it is full a
	// failure still gets a problem document.
	writeBuffer = 64 << 10
	// writeTimeout is how long a client may take for one buffer.
	writeTimeout = 30 * time.Second
)

// GetRunHistory answers GET /api/v1/runs/{run_id}/history.
func (s *Server) GetRunHistory(ctx context.Context, req api.GetRunHistoryRequestObject) (api.GetRunHistoryResponseObject, error) {
	ctx = requestContext(ctx)
	show, err := oneOf("content", or(req.Params.Content, "refs"), parseContent, "none, refs, full")
	if err != nil {
		return nil, err
	}
	lines, err := wantsLines(ctx, req.Params.Format)
	if err != nil {
		return nil, err
	}
	v, err := s.load(ctx, req.RunID)
	if err != nil {
		return nil, err
	}
	if show == contentFull {
		s.logRead(ctx, v.run.ID)
	}
	return &history{ctx: ctx, view: v, show: show, lines: lines}, nil
}

// wantsLines says whether the answer is NDJSON.
func wantsLines(ctx context.Context, format string) (bool, error) {
	switch format {
	case "json":
		return false, nil
	case "ndjson":
		return true, nil
	case "":
	default:
		return false, badParameter("format", "must be json or ndjson")
	}
	accept, _ := ctx.Value(acceptKey{}).(string)
	for part := range strings.SplitSeq(accept, ",") {
		media, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(media)) {
		case typeNDJSON, "application/ndjson", "application/jsonl":
			return true, nil
		case typeJSON, "application/*", "*/*":
			return false, nil
		}
	}
	return false, nil
}

// history is the answer, written while it is built: what is in memory at once
// is the run without its content, and a window of bodies.
type history struct {
	ctx   context.Context //nolint:containedctx // the generated Visit method has no parameter for it
	view  *view
	show  content
	lines bool

	builder stepBuilder
	out     form
	end     api.HistoryEnd
}

// VisitGetRunHistoryResponse writes the answer. An error before the first
// buffer was sent leaves the response untouched; after it the caller cuts the
// connection, so that no client takes the part for the whole.
func (h *history) VisitGetRunHistoryResponse(w http.ResponseWriter) error {
	kind := typeJSON
	if h.lines {
		kind = typeNDJSON
	}
	buf := bufio.NewWriterSize(&pacedWriter{w: w, control: http.NewResponseController(w), kind: kind}, writeBuffer)
	if h.lines {
		h.out = &lineForm{w: buf}
	} else {
		h.out = &objectForm{w: buf}
	}
	h.prepare()
	if err := h.write(); err != nil {
		return err
	}
	return buf.Flush()
}

// pacedWriter sends the header with the first buffer and gives the client a
// bounded time for each.
type pacedWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	kind    string
}

func (p *pacedWriter) Write(b []byte) (int, error) {
	if p.kind != "" {
		p.w.Header().Set("Content-Type", p.kind)
		p.w.WriteHeader(http.StatusOK)
		p.kind = ""
	}
	// A writer without deadlines (in tests) has no client to wait for.
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	return p.w.Write(b)
}

func (h *history) prepare() {
	h.builder = stepBuilder{content: h.show, logs: loggedMessages(h.view.group.Input.Logs), findings: map[string][]string{}}
	for i := range h.view.findings {
		if f := &h.view.findings[i]; f.Step != "" && f.Status != agent.StatusWithdrawn {
			h.builder.findings[f.Step] = append(h.builder.findings[f.Step], f.ID.String())
		}
	}
	if h.show == contentFull {
		h.builder.bodies = newWindow(h.ctx, h.view.reader, h.view.run.Units, h.plan())
	}
}

// plan lists the bodies in the order in which write asks for them.
func (h *history) plan() []agent.Ref {
	var plan, messages []agent.Ref
	seen := map[agent.Ref]bool{}
	for i := range h.view.run.Steps {
		st := &h.view.run.Steps[i]
		if h.lines {
			plan = h.newMessages(plan, seen, st)
		} else {
			messages = h.newMessages(messages, seen, st)
		}
		for j := range st.Attempts {
			for _, ref := range []agent.Ref{st.Attempts[j].Arguments.Ref, st.Attempts[j].Result.Ref} {
				if !ref.IsZero() {
					plan = append(plan, ref)
				}
			}
		}
	}
	for _, s := range h.others() {
		if h.lines {
			plan = newRefs(plan, seen, h.builder.spanRefs(s))
		} else {
			messages = newRefs(messages, seen, h.builder.spanRefs(s))
		}
		for _, ref := range []agent.Ref{s.Call.Arguments.Ref, s.Call.Result.Ref} {
			if !ref.IsZero() {
				plan = append(plan, ref)
			}
		}
	}
	return append(plan, messages...)
}

// newMessages appends the messages that the step refers to and none before it.
func (h *history) newMessages(to []agent.Ref, seen map[agent.Ref]bool, st *agent.RunStep) []agent.Ref {
	for i := range st.Attempts {
		a := &st.Attempts[i]
		if a.NoSpan {
			continue
		}
		to = newRefs(to, seen, h.builder.refs(a.Spans))
	}
	return to
}

// newRefs appends the references that were not seen before.
func newRefs(to []agent.Ref, seen map[agent.Ref]bool, m spanMessages) []agent.Ref {
	for _, refs := range [][]agent.Ref{m.input, m.output} {
		for _, ref := range refs {
			if !ref.IsZero() && !seen[ref] {
				seen[ref] = true
				to = append(to, ref)
			}
		}
	}
	return to
}

func (h *history) write() error {
	if err := h.out.item(sectionRun, h.view.object()); err != nil {
		return err
	}
	seen := map[agent.Ref]bool{}
	var later []agent.Ref
	for i := range h.view.run.Steps {
		st := &h.view.run.Steps[i]
		if h.show != contentNone {
			later = h.newMessages(later, seen, st)
		}
		if h.lines {
			if err := h.writeMessages(later); err != nil {
				return err
			}
			later = later[:0]
		}
		if err := h.writeStep(st); err != nil {
			return err
		}
	}
	later, err := h.writeSpans(later, seen)
	if err != nil {
		return err
	}
	if err := h.writeMessages(later); err != nil {
		return err
	}
	if err := h.writeFindings(); err != nil {
		return err
	}
	return h.out.end(&h.end)
}

func (h *history) writeStep(st *agent.RunStep) error {
	h.end.Steps++
	err := h.out.step(h.builder.head(st), func(yield func(*api.Attempt) bool) {
		for i := range st.Attempts {
			a := h.builder.attempt(&st.Attempts[i])
			if h.builder.err() != nil || !yield(&a) {
				return
			}
		}
	})
	return cmp.Or(h.builder.err(), err)
}

func (h *history) writeMessages(refs []agent.Ref) error {
	for _, ref := range refs {
		m := api.Message{Ref: ref.String()}
		if facts := h.view.group.Input.Facts[ref]; facts != nil {
			m.Role = api.MessageRole(facts.Role.String())
		}
		if h.show == contentFull {
			m.Body, m.Unavailable = h.builder.text(ref)
		}
		if err := cmp.Or(h.builder.err(), h.out.item(sectionMessages, &m)); err != nil {
			return err
		}
		h.end.Messages++
	}
	return nil
}

// others are the spans that are no attempt of a step.
func (h *history) others() []*agent.Step {
	inSteps := map[spanKey]bool{}
	for i := range h.view.run.Steps {
		for j := range h.view.run.Steps[i].Attempts {
			a := &h.view.run.Steps[i].Attempts[j]
			for _, s := range a.Spans {
				if !a.NoSpan {
					inSteps[spanKey{s.Trace, s.Span}] = true
				}
			}
		}
	}
	var out []*agent.Step
	for _, s := range h.view.run.Spans {
		if !inSteps[spanKey{s.Trace, s.Span}] {
			out = append(out, s)
		}
	}
	return out
}

// writeSpans writes the spans that are no attempt of a step, so that the answer
// holds every span of the run, and adds the messages that only they refer to; as
// lines, a span's messages come before it.
func (h *history) writeSpans(later []agent.Ref, seen map[agent.Ref]bool) ([]agent.Ref, error) {
	for _, s := range h.others() {
		if h.show != contentNone {
			later = newRefs(later, seen, h.builder.spanRefs(s))
		}
		if h.lines {
			if err := h.writeMessages(later); err != nil {
				return nil, err
			}
			later = later[:0]
		}
		out := h.builder.other(s)
		if err := cmp.Or(h.builder.err(), h.out.item(sectionSpans, &out)); err != nil {
			return nil, err
		}
		h.end.Spans++
	}
	return later, nil
}

func (h *history) writeFindings() error {
	for i := range h.view.findings {
		f := findingOf(&h.view.findings[i], &h.view.summary)
		if err := h.out.item(sectionFindings, &f); err != nil {
			return err
		}
		h.end.Findings++
	}
	for i := range h.view.life.all {
		u := h.view.life.object(i, h.view.findings)
		if err := h.out.item(sectionUnknowns, &u); err != nil {
			return err
		}
		h.end.Unknowns++
	}
	return nil
}

func findingAbout(found []agent.Finding, st *agent.RunStep, a *agent.Attempt) *agent.Finding {
	for i := range found {
		f := &found[i]
		if f.Kind != kindUnknown || f.Status == agent.StatusWithdrawn || (f.Step != "" && f.Step != st.ID) {
			continue
		}
		for _, e := range f.Evidence {
			if e.Trace == a.Trace && e.Span == a.Span && (e.Attempt == 0 || e.Attempt == a.Number) {
				return f
			}
		}
	}
	return nil
}

// loggedMessages gathers the messages that came as log records, by span.
func loggedMessages(logs []agent.LogContent) map[spanKey]spanMessages {
	if len(logs) == 0 {
		return nil
	}
	sorted := slices.Clone(logs)
	slices.SortStableFunc(sorted, func(a, b agent.LogContent) int {
		return cmp.Or(a.Trace.Compare(b.Trace), a.Span.Compare(b.Span), cmp.Compare(a.Position, b.Position), cmp.Compare(a.Start, b.Start))
	})
	out := map[spanKey]spanMessages{}
	for _, l := range sorted {
		k := spanKey{l.Trace, l.Span}
		m := out[k]
		to := &m.input
		if l.Output {
			to = &m.output
		}
		if !slices.Contains(*to, l.Message) { // a record that came twice
			*to = append(*to, l.Message)
		}
		out[k] = m
	}
	return out
}
