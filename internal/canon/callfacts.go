package canon

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/cjson"
)

// DomainValue is the domain of marks: short values inside arguments and results.
const DomainValue Domain = "value"

const (
	maxCallMarks = 32      // of each list
	maxMarked    = 1 << 10 // bytes of a value that gets a mark
	maxLooked    = 1 << 20 // bytes of a text that is looked into
	maxNested    = 6       // levels
	pageRunes    = 32      // text of this length is a page, not a word
)

// CallFacts fills in what the rules need of the span's content besides hashes.
// The step's kind must be known. looks: the tool tells whether an act took
// effect. hashStated: the sender stated the arguments' hash.
func (a *Analyzer) CallFacts(rec *Record, looks, hashStated bool) {
	s := &rec.Step
	f := &a.callFacts
	*f = agent.CallFacts{Values: f.Values[:0], Made: f.Made[:0], Entries: f.Entries[:0], Names: f.Names[:0]}
	switch s.Op {
	case agent.OpModel:
		f.InputSize = a.inputSize()
		f.Attempts = uint8(max(0, min(rec.stated.Attempts, math.MaxUint8)))
	case agent.OpAgent, agent.OpWorkflow:
		f.Open, f.Spanless = rec.stated.Open, rec.stated.Spanless
	case agent.OpTool, agent.OpRetrieval, agent.OpHuman, agent.OpNone, agent.OpGate, agent.OpHandoff:
		a.toolFacts(s, looks || s.Kind == agent.KindReconcile)
		f.HashStated = hashStated
	default:
		return
	}
	f.Words = rec.stated.Words
	if !f.IsZero() {
		a.form = f.Append(a.form[:0])
		s.Facts = string(a.form)
	}
}

func (a *Analyzer) inputSize() (n int64) {
	for _, s := range [...]slot{slotSystem, slotInput} {
		for _, p := range a.found[s] {
			n += int64(p.m.size)
		}
	}
	return n
}

func (a *Analyzer) toolFacts(s *agent.Step, looks bool) {
	f := &a.callFacts
	if a.res.content.State == agent.RecordedYes && len(a.res.compared) <= maxLooked {
		text, _ := ResultText(a.res.compared)
		f.Form = resultForm(text)
		if looks || s.Kind == agent.KindHuman {
			says(f, text)
		}
		if s.Kind != agent.KindHuman {
			f.Task = taskStatus(text)
		}
		if f.Task != agent.TaskUnset || s.Kind == agent.KindAct || s.Kind == agent.KindUnset {
			if a.made(text, false, 0); len(f.Made) == 0 {
				a.made(text, true, 0)
			}
		}
	}
	person := s.Kind == agent.KindHuman
	if s.Kind == agent.KindRead && !looks && f.Task == agent.TaskUnset || len(a.args.compared) > maxLooked {
		return
	}
	if a.args.content.State == agent.RecordedYes {
		a.values(unfold(a.args.compared), "", person, false, 0)
		if person {
			f.Tool, _ = cjson.Lookup(a.args.compared, "tool")
			f.Tool = Cut(f.Tool, maxMarked)
		}
	}
	if s.Call.Approval {
		for _, name := range [...]string{s.Call.ID, s.StepID, s.Call.Target, s.Call.Target[strings.LastIndexByte(s.Call.Target, '/')+1:]} {
			if name != "" {
				f.Names = append(f.Names, a.mark(name))
			}
		}
	}
}

func (a *Analyzer) mark(value string) agent.Mark {
	if len(value) > maxMarked {
		value = value[:maxMarked]
	}
	a.markForm = append(a.markForm[:0], value...)
	d := a.protect.Hash(DomainValue, a.markForm)
	return agent.Mark(binary.LittleEndian.Uint64(d[:8]))
}

// unfold takes the JSON out of a JSON string.
func unfold(text string) string {
	if sc := cjson.Scan(text); sc.Kind() == cjson.KindString {
		if inner := cjson.Text(text); cjson.Valid(inner) {
			return inner
		}
	}
	return text
}

// values marks the named scalars of arguments, and what stands in lists. entries:
// the latter is wanted; inside: the value is part of a list.
func (a *Analyzer) values(raw, name string, entries, inside bool, depth int) {
	f := &a.callFacts
	sc := cjson.Scan(raw)
	switch sc.Kind() {
	case cjson.KindObject:
		for sc.Object(); sc.Next(); {
			if depth < maxNested {
				key := sc.Key()
				if name != "" {
					key = name + "." + key
				}
				a.values(sc.Raw(), key, entries, inside, depth+1)
			}
		}
	case cjson.KindArray:
		for sc.Array(); sc.Next(); {
			if entries && depth < maxNested {
				a.values(sc.Raw(), name, entries, true, depth+1)
			}
		}
	default:
		value, ok := cjson.Lookup(raw)
		switch {
		case !ok || value == "":
		case inside:
			if len(f.Entries) < maxCallMarks {
				f.Entries = append(f.Entries, a.mark(value))
			}
		case name != "" && len(f.Values) < maxCallMarks:
			f.Values = append(f.Values, agent.Value{Name: agent.Mark(xxhash.Sum64String(name)), Mark: a.mark(value), ID: isIDName(name) || isIDForm(value)})
		}
	}
}

// made marks the ids in a result: of the things that the call made. They are told
// by the field's name, or by the value's form.
func (a *Analyzer) made(raw string, byForm bool, depth int) {
	f := &a.callFacts
	sc := cjson.Scan(raw)
	switch sc.Kind() {
	case cjson.KindObject:
		for sc.Object(); sc.Next(); {
			key, kind := sc.Key(), sc.Kind()
			value := sc.Raw()
			switch {
			case kind == cjson.KindObject || kind == cjson.KindArray:
				if depth < maxNested {
					a.made(value, byForm, depth+1)
				}
			case len(f.Made) >= maxCallMarks:
			case byForm && kind == cjson.KindString || !byForm && isIDName(key):
				if id, ok := cjson.Lookup(value); ok && id != "" && id != "true" && id != "false" && (!byForm || isIDForm(id)) {
					f.Made = append(f.Made, a.mark(id))
				}
			}
		}
	case cjson.KindArray:
		for sc.Array(); sc.Next(); {
			if depth < maxNested {
				a.made(sc.Raw(), byForm, depth+1)
			}
		}
	}
}

const maxIDForm = 64 // bytes

// isIDForm reports whether a text has the form of an id, as b-77, AC-14 or
// order/17: letters first, with digits, in one piece.
func isIDForm(value string) bool {
	if len(value) > maxIDForm {
		return false
	}
	digits := false
	for i := range len(value) {
		switch c := value[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i == 0:
			return false
		case c >= '0' && c <= '9':
			digits = true
		case strings.IndexByte("-_/:.#", c) < 0:
			return false
		}
	}
	return digits
}

// isIDName reports whether a field of that name, or path, holds an id.
func isIDName(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, end := range [...]string{"Id", "ID", "_id", "-id", "_ref", "_number", "Ref", "Number"} {
		if strings.HasSuffix(name, end) && len(name) > len(end) {
			return true
		}
	}
	for _, whole := range [...]string{"id", "uuid", "ref", "reference", "number"} {
		if strings.EqualFold(name, whole) {
			return true
		}
	}
	return false
}

// taskStatus is what a result that is an object says under status or state.
func taskStatus(text string) agent.TaskStatus {
	sc := cjson.Scan(text)
	if sc.Kind() != cjson.KindObject {
		return agent.TaskUnset
	}
	var status agent.TaskStatus
	for sc.Object(); sc.Next(); {
		switch sc.Key() {
		case "status", "state":
			if sc.Kind() == cjson.KindString {
				status = agent.ParseTaskStatus(sc.Text())
			}
		}
	}
	return status
}

// says reads what a person or a look says in a JSON result.
func says(f *agent.CallFacts, text string) {
	if said, ok := cjson.Lookup(text, "decision"); ok && said != "" {
		f.Decided = true
		f.Decision, _ = agent.ParseDecision(DecisionSpelling(said))
	}
	for _, name := range [...]string{"applied", "found"} {
		switch said, _ := cjson.Lookup(text, name); said {
		case "true":
			f.Way = agent.SettlementApplied
		case "false":
			f.Way = agent.SettlementNotApplied
		default:
			continue
		}
		return
	}
}

// resultForm tells an empty result, and a page of text.
func resultForm(text string) agent.ResultForm {
	text = strings.TrimSpace(text)
	if isEmptyJSON(text, 0) {
		return agent.ResultFormEmpty
	}
	if sc := cjson.Scan(text); sc.Kind() == cjson.KindString && cjson.Valid(text) {
		text = strings.TrimSpace(cjson.Text(text))
	} else if cjson.Valid(text) {
		return agent.ResultFormUnset
	}
	switch {
	case isEmptyText(text):
		return agent.ResultFormEmpty
	case utf8.RuneCountInString(text) >= pageRunes:
		return agent.ResultFormPage
	}
	return agent.ResultFormUnset
}

// isEmptyJSON: null, false, 0, "", [], {}, or an object of only these.
func isEmptyJSON(text string, depth int) bool {
	switch text {
	case "", "null", "false", `""`, "[]", "{}":
		return true
	}
	sc := cjson.Scan(text)
	switch sc.Kind() {
	case cjson.KindNumber:
		n, ok := cjson.Lookup(text)
		return ok && (n == "0" || n == "-0")
	case cjson.KindArray:
		n := 0
		for sc.Array(); sc.Next(); {
			n++
		}
		return n == 0 && sc.End()
	case cjson.KindObject:
		if depth >= maxNested {
			return false
		}
		for sc.Object(); sc.Next(); {
			if !isEmptyJSON(sc.Raw(), depth+1) {
				return false
			}
		}
		return sc.End()
	}
	return false
}

// maxEmptyText is the longest text that can say that there is nothing.
const maxEmptyText = 200

// isEmptyText: not set, none, no …, not found.
func isEmptyText(text string) bool {
	if len(text) > maxEmptyText {
		return false
	}
	text = strings.ToLower(strings.TrimRight(text, ".! \n"))
	switch text {
	case "", "not set", "unset", "none", "not found", "nothing", "nothing found", "null", "empty", "n/a", "no":
		return true
	}
	return strings.HasPrefix(text, "no ") || strings.HasPrefix(text, "not found") || strings.HasPrefix(text, "none ")
}
