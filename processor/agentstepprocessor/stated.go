package agentstepprocessor

// protectStated protects what the dialect read off the span before redaction:
// ids are made valid, as they are in attributes; the name of an agent is a label.
func (w *worker) protectStated() {
	st := &w.stated
	st.DialectRun, st.DialectStep, st.Checkpoint = valid(st.DialectRun), valid(st.DialectStep), valid(st.Checkpoint)
	if st.HandoffTo != "" {
		st.HandoffTo = w.guard.name("handoff", valid(st.HandoffTo))
	}
	for i := range st.Words {
		st.Words[i].ID = valid(st.Words[i].ID)
	}
}
