package agent

import (
	"encoding/binary"
	"strings"
)

// CallFacts is what the rules need of a span's content beyond the comparison
// hashes. It lives in the row, as Step.Facts, since bodies expire before steps
// do. Marks are keyed hashes: equal values of one tenant have equal marks, and
// nothing can be guessed from one.
type CallFacts struct {
	// Of the result.
	Form     ResultForm
	Decided  bool       // it states a decision of a person, known or not
	Decision Decision   // the decision, where it is a known one
	Way      Settlement // it says whether something took effect
	Made     []Mark     // ids in it, texts or numbers
	Task     TaskStatus // where it is an object with a status: that

	// Of the arguments.
	Tool    string  // the tool that they name under `tool`
	Values  []Value // named scalars
	Entries []Mark  // what stands in lists

	// HashStated: the sender stated the arguments' hash; it was not made here.
	HashStated bool

	// Names are marks of what an entry may call this call by: its id, its step
	// id, its target, the last part of that.
	Names []Mark

	// InputSize is the bytes of a model call's input as sent; 0 where no content
	// was recorded.
	InputSize int64

	// Attempts is how many attempts of a model call its one span counts; 0 where
	// it counts none.
	Attempts uint8

	// Words is what the span says of calls that it does not stand for.
	Words []CallWord

	// Open is what became of the calls of an agent's last model answer that
	// neither span nor answer tells of: deferred, where the agent ended well, or
	// refused. None where its dialect does not say.
	Open Sign

	// Spanless is what a call of the agent is that has an answer and no span:
	// refused, where its client gives every call that runs a span; rejected, where
	// that holds for answers that are errors. None where the dialect does not say.
	Spanless Sign
}

// CallWord is what a span, as that of an agent, says of a call: that it waits for
// a person (deferred), that it was turned away (refused).
type CallWord struct {
	ID      string
	Sign    Sign
	Outside bool // it waits for work outside, whose answer is its result
}

// ResultForm says of a recorded result what its hash does not.
type ResultForm uint8

// Values of ResultForm.
const (
	ResultFormUnset ResultForm = iota // nothing special
	ResultFormEmpty                   // null, false, 0, "", [], {}, none, not found …
	ResultFormPage                    // text, no JSON, of 32 characters or more
)

// TaskStatus is how a task stands, as a result says.
type TaskStatus uint8

// Values of TaskStatus.
const (
	TaskUnset   TaskStatus = iota // it says nothing, or nothing that is known
	TaskReceipt                   // queued, dispatched, pending: taken, not done
	TaskRunning                   // it goes on
	TaskDone                      // it was done
	TaskFailed                    // it was not
)

// ParseTaskStatus reads the words by which services say how a task stands.
func ParseTaskStatus(word string) TaskStatus {
	switch strings.ToLower(word) {
	case "queued", "dispatched", "pending":
		return TaskReceipt
	case "running", "in_progress", "in progress", "processing", "accepted", "scheduled", "started", "waiting":
		return TaskRunning
	case "done", "ok", "success", "succeeded", "successful", "completed", "complete", "finished", "applied", "executed", "delivered", "sent", "paid":
		return TaskDone
	case "failed", "failure", "error", "errored", "rejected", "cancelled", "canceled", "aborted", "not_applied", "expired":
		return TaskFailed
	}
	return TaskUnset
}

// Mark is a keyed hash of a short value.
type Mark uint64

// Value is a named scalar of a call's arguments.
type Value struct {
	Name Mark // a plain hash: names of arguments are no secret
	Mark Mark
	ID   bool // its name says that it is an id
}

// The most marks, and words, of each list that a row keeps.
const maxMarks = 32

const callFactsVersion = 1

// bits of the encoded head.
const (
	factsDecided = 1 << iota
	factsHashStated
	factsHasTool
	factsHasMarks
	factsHasSize
	factsHasAttempts
	factsHasWords
	factsHasOpen
)

// IsZero reports whether there is nothing to keep.
func (f *CallFacts) IsZero() bool {
	return f.Form == ResultFormUnset && !f.Decided && f.Decision == DecisionUnset && f.Way == SettlementUnset && f.Task == TaskUnset && f.Tool == "" &&
		len(f.Made)+len(f.Values)+len(f.Entries)+len(f.Names) == 0 && !f.HashStated && f.InputSize == 0 &&
		f.Attempts == 0 && len(f.Words) == 0 && f.Open == SignNone && f.Spanless == SignNone
}

// Append encodes the facts; nothing where there are none. Of each list the first
// 32 are kept.
func (f *CallFacts) Append(dst []byte) []byte {
	if f.IsZero() {
		return dst
	}
	var head byte
	set := func(on bool, bit byte) {
		if on {
			head |= bit
		}
	}
	marks := len(f.Made)+len(f.Values)+len(f.Entries)+len(f.Names) > 0
	set(f.Decided, factsDecided)
	set(f.HashStated, factsHashStated)
	set(f.Tool != "", factsHasTool)
	set(marks, factsHasMarks)
	set(f.InputSize != 0, factsHasSize)
	set(f.Attempts != 0, factsHasAttempts)
	set(len(f.Words) > 0, factsHasWords)
	set(f.Open != SignNone || f.Spanless != SignNone, factsHasOpen)
	dst = append(dst, callFactsVersion, byte(f.Task), head, byte(f.Form), byte(f.Decision), byte(f.Way))
	if f.InputSize != 0 {
		dst = binary.AppendVarint(dst, f.InputSize)
	}
	if f.Tool != "" {
		dst = appendText(dst, f.Tool)
	}
	if f.Attempts != 0 {
		dst = append(dst, f.Attempts)
	}
	if len(f.Words) > 0 {
		dst = appendWords(dst, f.Words)
	}
	if head&factsHasOpen != 0 {
		dst = append(dst, byte(f.Open)|byte(f.Spanless)<<4)
	}
	if !marks {
		return dst
	}
	values := f.Values[:min(len(f.Values), maxMarks)]
	dst = append(dst, byte(len(values)))
	for _, v := range values {
		id := byte(0)
		if v.ID {
			id = 1
		}
		dst = append(dst, id)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v.Name))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v.Mark))
	}
	for _, list := range [...][]Mark{f.Made, f.Entries, f.Names} {
		list = list[:min(len(list), maxMarks)]
		dst = append(dst, byte(len(list)))
		for _, m := range list {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(m))
		}
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendWords(dst []byte, words []CallWord) []byte {
	words = words[:min(len(words), maxMarks)]
	dst = append(dst, byte(len(words)))
	for i := range words {
		w := &words[i]
		outside := byte(0)
		if w.Outside {
			outside = 1
		}
		dst = append(appendText(dst, w.ID), byte(w.Sign), outside)
	}
	return dst
}

// ParseCallFacts reads what Append wrote. Of anything else nothing is taken.
func ParseCallFacts(s string) CallFacts {
	r := factReader{s: s}
	if r.byte() != callFactsVersion {
		return CallFacts{}
	}
	var f CallFacts
	f.Task = TaskStatus(r.byte())
	head := r.byte()
	f.Decided, f.HashStated = head&factsDecided != 0, head&factsHashStated != 0
	f.Form, f.Decision, f.Way = ResultForm(r.byte()), Decision(r.byte()), Settlement(r.byte())
	if head&factsHasSize != 0 {
		f.InputSize = r.varint()
	}
	if head&factsHasTool != 0 {
		f.Tool = r.text()
	}
	if head&factsHasAttempts != 0 {
		f.Attempts = r.byte()
	}
	if head&factsHasWords != 0 {
		f.Words = r.words()
	}
	if head&factsHasOpen != 0 {
		ends := r.byte()
		f.Open, f.Spanless = Sign(ends&0x0f), Sign(ends>>4)
	}
	if head&factsHasMarks != 0 {
		for range r.count() {
			f.Values = append(f.Values, Value{ID: r.byte() == 1, Name: r.mark(), Mark: r.mark()})
			if r.bad {
				break
			}
		}
		f.Made, f.Entries, f.Names = r.marks(), r.marks(), r.marks()
	}
	if r.bad || f.Form > ResultFormPage || f.Decision > DecisionNotApplied || f.Way > SettlementNotApplied || f.Task > TaskFailed || f.Open > SignReceipt || f.Spanless > SignReceipt {
		return CallFacts{}
	}
	return f
}

// factsHead is the byte of encoded facts that says which of them there are; 0 for
// none.
func factsHead(facts string) byte {
	if len(facts) < 3 || facts[0] != callFactsVersion {
		return 0
	}
	return facts[2]
}

// taskOf reads the status of a task out of encoded facts.
func taskOf(facts string) TaskStatus {
	if len(facts) < 2 || facts[0] != callFactsVersion {
		return TaskUnset
	}
	return TaskStatus(facts[1])
}

// factReader reads bytes off a string; a read beyond its end gives zero and sets
// bad.
type factReader struct {
	s   string
	bad bool
}

func (r *factReader) byte() byte {
	if len(r.s) == 0 {
		r.bad = true
		return 0
	}
	b := r.s[0]
	r.s = r.s[1:]
	return b
}

// count reads the length of a list.
func (r *factReader) count() byte {
	n := r.byte()
	if n > maxMarks {
		r.bad = true
		return 0
	}
	return n
}

func (r *factReader) varint() int64 {
	var buf [binary.MaxVarintLen64]byte
	n := copy(buf[:], r.s)
	v, used := binary.Varint(buf[:n])
	if used <= 0 {
		r.bad = true
		return 0
	}
	r.s = r.s[used:]
	return v
}

func (r *factReader) text() string {
	var buf [binary.MaxVarintLen64]byte
	n := copy(buf[:], r.s)
	size, used := binary.Uvarint(buf[:n])
	if used <= 0 || size > uint64(len(r.s)-used) {
		r.bad = true
		return ""
	}
	text := r.s[used : used+int(size)] // bounded by the length
	r.s = r.s[used+int(size):]         // likewise
	return strings.Clone(text)
}

func (r *factReader) words() (list []CallWord) {
	for range r.count() {
		w := CallWord{ID: r.text(), Sign: Sign(r.byte()), Outside: r.byte() == 1}
		r.bad = r.bad || w.Sign > SignReceipt
		if r.bad {
			break
		}
		list = append(list, w)
	}
	return list
}

func (r *factReader) mark() Mark {
	var buf [8]byte
	if copy(buf[:], r.s) < len(buf) {
		r.bad = true
		return 0
	}
	r.s = r.s[len(buf):]
	return Mark(binary.LittleEndian.Uint64(buf[:]))
}

func (r *factReader) marks() (list []Mark) {
	for range r.count() {
		list = append(list, r.mark())
		if r.bad {
			break
		}
	}
	return list
}
