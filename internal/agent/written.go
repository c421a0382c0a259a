package agent

// AttemptName is what an attempt is stored under: the span that names it, its
// part of that span, and the id of its call, since calls without spans stand
// under the span that asked for them.
type AttemptName struct {
	Unit   string
	Trace  TraceID
	Span   SpanID
	Part   uint16
	CallID string
}

// Name is what the attempt is stored under.
func (a *Attempt) Name() AttemptName {
	return AttemptName{Unit: a.Unit, Trace: a.Trace, Span: a.Span, Part: a.Part, CallID: a.CallID}
}

// Written is what earlier sweeps wrote of some units and runs.
type Written struct {
	// Attempts that have an outcome, whatever run they stood in.
	Attempts map[AttemptName]struct{}
	// Ended are the runs whose newest summary says that they ended or stalled.
	Ended map[string]struct{}
}
