package query

import (
	"bufio"
	"bytes"
	"encoding/json"
	"iter"

	"github.com/steptrail/steptrail/query/api"
)

// section is a part of a history. An object has them in this order.
type section int

const (
	sectionRun section = iota
	sectionSteps
	sectionSpans
	sectionMessages
	sectionFindings
	sectionUnknowns
)

var (
	objectNames = [...]string{"run", "steps", "spans", "messages", "findings", "unknowns"}
	lineNames   = [...]string{"run", "step", "span", "message", "finding", "unknown"}
)

// form is how a history is written: as one object, or as lines. Items of an
// object come section by section.
type form interface {
	item(sec section, v any) error
	step(head *api.Step, attempts iter.Seq[*api.Attempt]) error
	end(counts *api.HistoryEnd) error
}

// noAttempts is how a step without attempts encodes them. Inside a JSON string
// its quotes would be escaped, so that it stands in a step's text only once.
var noAttempts = []byte(`"attempts":null`)

// writeStep writes a step attempt by attempt: a step may have more of them, with
// their arguments and results, than should be in memory.
func writeStep(w *bufio.Writer, head *api.Step, attempts iter.Seq[*api.Attempt]) error {
	head.Attempts = nil
	b, err := json.Marshal(head)
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(b, noAttempts)
	_, _ = w.Write(before) // an error stays in w and comes back from the last write
	_, _ = w.WriteString(`"attempts":[`)
	first := true
	for a := range attempts {
		if !first {
			_ = w.WriteByte(',')
		}
		first = false
		if b, err = json.Marshal(a); err != nil {
			return err
		}
		if _, err = w.Write(b); err != nil {
			return err
		}
	}
	_ = w.WriteByte(']')
	_, err = w.Write(after)
	return err
}

// objectForm writes {"run":…,"steps":[…],…}.
type objectForm struct {
	w     *bufio.Writer
	at    section
	items int
}

var _ form = (*objectForm)(nil)

func (f *objectForm) item(sec section, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if sec == sectionRun {
		_, _ = f.w.WriteString(`{"run":`)
	} else {
		f.next(sec)
	}
	_, err = f.w.Write(b)
	return err
}

func (f *objectForm) step(head *api.Step, attempts iter.Seq[*api.Attempt]) error {
	f.next(sectionSteps)
	return writeStep(f.w, head, attempts)
}

// next prepares the next item of the section, opening it if need be.
func (f *objectForm) next(sec section) {
	f.open(sec)
	if f.items > 0 {
		_ = f.w.WriteByte(',')
	}
	f.items++
}

func (f *objectForm) open(sec section) {
	for f.at < sec {
		if f.at > sectionRun {
			_ = f.w.WriteByte(']')
		}
		f.at++
		f.items = 0
		_, _ = f.w.WriteString(`,"` + objectNames[f.at] + `":[`)
	}
}

func (f *objectForm) end(*api.HistoryEnd) error {
	f.open(sectionUnknowns)
	_, err := f.w.WriteString("]}\n")
	return err
}

// lineForm writes {"run":…}, {"step":…} and so on, one a line.
type lineForm struct{ w *bufio.Writer }

var _ form = (*lineForm)(nil)

func (f *lineForm) item(sec section, v any) error { return f.line(lineNames[sec], v) }

func (f *lineForm) step(head *api.Step, attempts iter.Seq[*api.Attempt]) error {
	_, _ = f.w.WriteString(`{"step":`)
	if err := writeStep(f.w, head, attempts); err != nil {
		return err
	}
	_, err := f.w.WriteString("}\n")
	return err
}

func (f *lineForm) line(name string, v any) error {
	b, err := json.Marshal(v) // escapes line breaks and compacts stored JSON: never a second line
	if err != nil {
		return err
	}
	_, _ = f.w.WriteString(`{"` + name + `":`)
	_, _ = f.w.Write(b)
	_, err = f.w.WriteString("}\n")
	return err
}

func (f *lineForm) end(counts *api.HistoryEnd) error { return f.line("end", counts) }
