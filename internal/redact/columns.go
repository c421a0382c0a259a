package redact

import "strings"

// applyColumns adds the values of columns whose names are secrets': in a text with
// a header line and lines of cells, the cells below such a name. Names on the key
// list take all that is not empty, others what is made up.
func (t *Tenant) applyColumns(w *work, text string) {
	if len(text) < minTable {
		return
	}
	found := len(w.matches)
	for at := 0; at < len(text); {
		end := lineEnd(text, at)
		if end == len(text) {
			break
		}
		if delimiter := t.headerDelimiter(text[at:end]); delimiter != 0 {
			end = t.column(w, text, at, end, delimiter)
		}
		at = end + 1
	}
	if len(w.matches) > found {
		w.merge(text)
	}
}

// The shortest table, and the longest header, that are looked at.
const (
	minTable  = 12
	maxHeader = 1024
)

func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}

// headerDelimiter returns what stands between the cells of a line one of which is
// a secret's name, 0 where none is.
func (t *Tenant) headerDelimiter(line string) byte {
	if len(line) > maxHeader {
		return 0
	}
	for _, d := range []byte(delimiters) {
		if strings.IndexByte(line, d) < 0 {
			continue
		}
		named := false
		for cell := range strings.SplitSeq(line, string(d)) {
			if !isHeading(cell) {
				named = false
				break
			}
			named = named || t.columnKind(cell) != noColumn
		}
		if named {
			return d
		}
	}
	return 0
}

// delimiters are what stands between cells.
const delimiters = ",\t;|"

// maxBlanks is how many blanks a column's name has at most.
const maxBlanks = 3

// isHeading reports whether a cell can be a column's name: few words, no sentence.
func isHeading(cell string) bool {
	cell = strings.TrimSpace(cell)
	return len(cell) <= 48 && strings.Count(cell, " ") <= maxBlanks && !strings.ContainsAny(cell, ".!?:=<>{}[]")
}

// namesColumn reports whether the cell that ends before text[i] is named as a
// secret is. It is asked at every delimiter and end of a line, and mostly answers
// after a look at two bytes.
func (t *Tenant) namesColumn(text string, i int) bool {
	end := i
	for end > 0 && i-end < 3 && strings.IndexByte(headingEnds, text[end-1]) >= 0 {
		end--
	}
	if end < 2 || !t.r.keys.canEnd(text[end-2:end]) && (t.r.secretValue < 0 || !canNameSecret(text[max(0, end-3):end])) {
		return false
	}
	start, blanks, inside := end, 0, 0
	for start > 0 && end-start < 64 {
		c := text[start-1]
		switch {
		case c == ' ':
			blanks++
		case nameBytes[c] || c >= 0x80:
			if inside, blanks = inside+blanks, 0; inside > maxBlanks {
				return false // a sentence
			}
		default:
			return t.columnKind(text[start:end]) != noColumn
		}
		start--
	}
	return t.columnKind(text[start:end]) != noColumn
}

const (
	noColumn = iota
	madeUpColumn
	wholeColumn
)

// headingEnds are what may stand between a column's name and its delimiter.
const headingEnds = " \r\"'"

// endsHeading reports whether a byte can be the last of a secret's name or stand
// behind it: before any other byte a delimiter is passed by.
func (r *Redactor) endsHeading(c byte) bool {
	if strings.IndexByte(headingEnds, c) >= 0 {
		return true
	}
	for before := range 256 {
		name := string([]byte{byte(before), c})
		if r.keys.canEnd(name) || r.secretValue >= 0 && endsName[c|0x20] {
			return true
		}
	}
	return false
}

// columnKind tells what goes of the cells below a name.
func (t *Tenant) columnKind(cell string) int {
	name := strings.Trim(cell, " \t\r\"'*")
	switch {
	case len(name) < 2 || len(name) > 64:
		return noColumn
	case t.r.Secret(name):
		return wholeColumn
	case t.r.secretValue >= 0 && kindOf(name) != noSecret:
		return madeUpColumn
	}
	return noColumn
}

// column adds what goes of the lines below a header, and returns the end of the
// last of them.
func (t *Tenant) column(w *work, text string, at, end int, delimiter byte) int {
	header := text[at:end]
	columns := strings.Count(header, string(delimiter))
	for end < len(text) {
		from := end + 1
		next := lineEnd(text, min(from, len(text)))
		if from >= len(text) || strings.Count(text[from:next], string(delimiter)) < columns {
			return end
		}
		t.cells(w, text, from, next, header, delimiter)
		end = next
	}
	return end
}

// cells adds what goes of one line.
func (t *Tenant) cells(w *work, text string, from, end int, header string, delimiter byte) {
	for from <= end {
		name, rest, _ := strings.Cut(header, string(delimiter))
		stop := cellEnd(text, from, end, delimiter)
		if kind := t.columnKind(name); kind != noColumn {
			t.cell(w, text, from, stop, kind, kindOf(strings.Trim(name, " \t\r\"'*")))
		}
		if rest == "" {
			return
		}
		header, from = rest, stop+1
	}
}

// cellEnd returns where a cell ends; one in quotes may hold delimiters.
func cellEnd(text string, from, end int, delimiter byte) int {
	quoted := false
	for i := from; i < end; i++ {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == delimiter && !quoted:
			return i
		}
	}
	return end
}

// cell adds a cell, without its quotes, if it goes.
func (t *Tenant) cell(w *work, text string, start, end, column int, kind secretKind) {
	for start < end && strings.IndexByte(" \t\r\"'", text[start]) >= 0 {
		start++
	}
	for start < end && strings.IndexByte(" \t\r\"'", text[end-1]) >= 0 {
		end--
	}
	s := text[start:end]
	if s == "" || isReference(s) || strings.Trim(s, "-:") == "" || column == madeUpColumn && !isSecret(s, kind) {
		return
	}
	by := t.secrets()
	if column == madeUpColumn {
		by = t.r.secretValue
	}
	w.matches = append(w.matches, match{start: start, end: end, by: by, value: s})
}
