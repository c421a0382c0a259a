package agentstepprocessor

import (
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// batch gathers the steps, facts and log content of one request for the open
// runs. Attributes, resources and events stay on the spans: no run depends on
// them.
type batch struct {
	steps []*agent.Step
	pool  []agent.Step // where steps point to
	facts map[agent.Ref]*agent.MessageFacts
	logs  []agent.LogContent
}

// chunk is how many steps are allocated at once.
const chunk = 64

func (b *batch) reset() {
	clear(b.steps)
	b.steps = b.steps[:0]
	b.pool = nil // what assemble kept points into it
	clear(b.facts)
	b.logs = b.logs[:0]
}

// addSpan copies what a run is derived from.
func (b *batch) addSpan(rec *canon.Record) {
	if len(b.pool) == cap(b.pool) {
		b.pool = make([]agent.Step, 0, chunk)
	}
	b.pool = append(b.pool, rec.Step)
	s := &b.pool[len(b.pool)-1]
	s.Attributes, s.Resource, s.Events = nil, nil, nil
	s.Links = append([]agent.Link(nil), s.Links...)
	s.Rules = append([]string(nil), s.Rules...)
	s.Call.ReconcileWith = append([]string(nil), s.Call.ReconcileWith...)
	s.Model.Context = append([]agent.Ref(nil), s.Model.Context...)
	s.Model.Outputs = append([]agent.Ref(nil), s.Model.Outputs...)
	b.steps = append(b.steps, s)
	for i := range rec.Facts {
		b.addFacts(&rec.Facts[i])
	}
}

// addFacts keeps a message's facts once. The analyzer made them, and they own
// their memory.
func (b *batch) addFacts(f *agent.MessageFacts) {
	if b.facts == nil {
		b.facts = make(map[agent.Ref]*agent.MessageFacts)
	}
	if _, ok := b.facts[f.Ref]; !ok {
		kept := *f
		b.facts[f.Ref] = &kept
	}
}

// addLog reads back the messages of an annotated log record.
func (b *batch) addLog(r *canon.Reader, lr plog.LogRecord) {
	for _, m := range r.Log(lr) {
		b.logs = append(b.logs, m.Content)
		b.addFacts(&m.Facts)
	}
}
