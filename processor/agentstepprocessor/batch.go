package agentstepprocessor

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// batch gathers the steps, facts and log content of one request for the open
// runs, which clone what they keep. Attributes, resources and events stay on the
// spans: no run depends on them.
type batch struct {
	steps  []*agent.Step
	chunks [][]agent.Step // where steps point to; used again
	refs   []agent.Ref    // of all steps
	links  []agent.Link
	texts  []string
	facts  map[agent.Ref]*agent.MessageFacts
	logs   []agent.LogContent
}

// chunk is how many steps are allocated at once.
const chunk = 64

// maxChunks is how many chunks are kept for the next request.
const maxChunks = 64

func (b *batch) reset() {
	for _, s := range b.steps {
		*s = agent.Step{} // lets go of the telemetry
	}
	clear(b.steps)
	clear(b.texts)
	b.steps, b.refs, b.links, b.texts = b.steps[:0], b.refs[:0], b.links[:0], b.texts[:0]
	if len(b.chunks) > maxChunks {
		*b = batch{}
	}
	clear(b.facts)
	clear(b.logs)
	b.logs = b.logs[:0]
}

// addSpan copies what a run is derived from. The record's slices are used again
// with the next span, so they are copied too.
func (b *batch) addSpan(rec *canon.Record) {
	at := len(b.steps)
	if at/chunk == len(b.chunks) {
		b.chunks = append(b.chunks, make([]agent.Step, chunk))
	}
	s := &b.chunks[at/chunk][at%chunk]
	*s = rec.Step
	s.Attributes, s.Resource, s.Events = nil, nil, nil
	s.Links = keep(&b.links, s.Links)
	s.Rules = keep(&b.texts, s.Rules)
	s.Call.ReconcileWith = keep(&b.texts, s.Call.ReconcileWith)
	s.Model.Context = keep(&b.refs, s.Model.Context)
	s.Model.Outputs = keep(&b.refs, s.Model.Outputs)
	b.steps = append(b.steps, s)
}

// keep copies a list to the end of another and gives the copy. Where the other
// grows, earlier copies stay where they were.
func keep[T any](all *[]T, list []T) []T {
	if len(list) == 0 {
		return nil
	}
	from := len(*all)
	*all = append(*all, list...)
	return (*all)[from:len(*all):len(*all)]
}

// addFact keeps a message's facts once. They must own their memory.
func (b *batch) addFact(f *agent.MessageFacts) {
	if b.facts == nil {
		b.facts = make(map[agent.Ref]*agent.MessageFacts)
	}
	if _, ok := b.facts[f.Ref]; !ok {
		b.facts[f.Ref] = f
	}
}

// addLog reads back the messages of an annotated log record. What it keeps owns
// its memory.
func (b *batch) addLog(r *canon.Reader, lr plog.LogRecord) {
	for _, m := range r.Log(lr) {
		m.Content.Tenant, m.Content.Unit = strings.Clone(m.Content.Tenant), strings.Clone(m.Content.Unit)
		b.logs = append(b.logs, m.Content)
		b.addFact(&m.Facts)
	}
}
