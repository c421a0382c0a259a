package agent

import (
	"cmp"
	"slices"
)

// logMessages are the messages of one span that came as log records.
type logMessages struct {
	in, out []Ref
}

// indexLogs orders the log content by span and position. Repeated records count
// once.
func indexLogs(logs []LogContent) map[spanKey]*logMessages {
	if len(logs) == 0 {
		return nil
	}
	sorted := slices.Clone(logs)
	slices.SortFunc(sorted, func(x, y LogContent) int {
		return cmp.Or(x.Trace.Compare(y.Trace), x.Span.Compare(y.Span), cmp.Compare(x.Position, y.Position), compareRefs(x.Message, y.Message))
	})
	index := make(map[spanKey]*logMessages)
	for i := range sorted {
		l := &sorted[i]
		if i > 0 {
			p := &sorted[i-1]
			if p.Trace == l.Trace && p.Span == l.Span && p.Position == l.Position && p.Message == l.Message && p.Output == l.Output {
				continue
			}
		}
		k := spanKey{l.Trace, l.Span}
		m := index[k]
		if m == nil {
			m = &logMessages{}
			index[k] = m
		}
		if l.Output {
			m.out = append(m.out, l.Message)
		} else {
			m.in = append(m.in, l.Message)
		}
	}
	return index
}

// inputs are the messages that a model call read: those on its span, else those
// that came as log records.
func (a *arena) inputs(s *Step) []Ref {
	if len(s.Model.Context) > 0 || a.logs == nil {
		return s.Model.Context
	}
	if m := a.logs[spanKey{s.Trace, s.Span}]; m != nil {
		return m.in
	}
	return nil
}

// outputs are the messages that a model call wrote.
func (a *arena) outputs(s *Step) []Ref {
	if len(s.Model.Outputs) > 0 || a.logs == nil {
		return s.Model.Outputs
	}
	if m := a.logs[spanKey{s.Trace, s.Span}]; m != nil {
		return m.out
	}
	return nil
}

// facts gives what is known of a message; nil if nothing is.
func (a *arena) facts(r Ref) *MessageFacts { return a.in.Facts[r] }

// closingAnswers are the tool responses with which an input ends: those of its
// trailing messages that hold nothing else.
func (a *arena) closingAnswers(input []Ref) (answers []CallAnswer) {
	for i := len(input) - 1; i >= 0; i-- {
		f := a.facts(input[i])
		if f == nil || len(f.Answers) == 0 || f.UserText {
			break
		}
		answers = append(answers, f.Answers...)
	}
	return answers
}
