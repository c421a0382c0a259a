package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A vocabulary is a set of words that, before a value or as the name it stands
// under, say what the value is.
type vocabulary struct {
	// words are whole words of ASCII letters, in lower case.
	words map[string]bool
	// lengths has a bit for the length of each word by its first letter: most texts'
	// words are none after one look.
	lengths [256]uint32
	// parts are words of other scripts, which are found inside longer ones.
	parts []string
}

func newVocabulary(words string) *vocabulary {
	v := &vocabulary{words: map[string]bool{}}
	for word := range strings.FieldsSeq(words) {
		if word[0] < utf8.RuneSelf {
			v.words[word] = true
			v.lengths[word[0]] |= 1 << min(len(word), 31)
		} else {
			v.parts = append(v.parts, word)
		}
	}
	return v
}

// has looks a word up, in lower case; wide says that not all of it is ASCII.
func (v *vocabulary) has(word []byte, wide bool) bool {
	if len(word) == 0 {
		return false
	}
	if v.lengths[word[0]]&(1<<min(len(word), 31)) != 0 && v.words[string(word)] {
		return true
	}
	if !wide {
		return false
	}
	for _, part := range v.parts {
		if strings.Contains(stringOf(word), part) {
			return true
		}
	}
	return false
}

// fillers are words that may stand between such a word and the value.
var fillers = newVocabulary("number numbers no nr num for is are was at on me us to from and or the my our his her their a an of home work main primary " +
	"office other alt alternate new old value code id field e164 raw text str string номер № ist der die das numero número numéro n")

// How far back a word may stand.
const (
	contextBytes = 96
	contextWords = 5
)

// introduced reports whether a word of the vocabulary leads up to text[at]: with
// nothing but fillers, numbers and marks between, in the text or, where it begins
// with those, in the name it stands under.
func (in *input) introduced(at int, v *vocabulary) bool {
	found, open := leadsUp(in.text, at, v)
	if found || !open || in.under.text == "" {
		return found
	}
	found, _ = leadsUp(in.under.text, len(in.under.text), v)
	return found
}

// leadsUp is introduced in one text; open says that its beginning was reached.
func leadsUp(text string, at int, v *vocabulary) (found, open bool) {
	floor := max(0, at-contextBytes)
	var buf [contextBytes + utf8.UTFMax]byte
	for words := 0; words < contextWords; {
		end := at
		for end > floor { // what is no word
			r, size := lastRune(text, floor, end)
			if isWord(r) {
				break
			}
			if r == ';' || r == '!' || r == '?' || r == '|' || r == ']' {
				return false, false
			}
			end -= size
		}
		if end == floor {
			return false, floor == 0
		}
		if isASCIIDigit(text[end-1]) { // a number, which is in no vocabulary
			at = end - 1
			for at > floor && isASCIIDigit(text[at-1]) {
				at--
			}
			continue
		}
		start := wordStart(text, floor, end)
		word, wide := buf[:0], false
		for _, r := range text[start:end] {
			wide = wide || r >= utf8.RuneSelf
			word = utf8.AppendRune(word, unicode.ToLower(r))
			if len(word) >= contextBytes {
				break
			}
		}
		switch {
		case v.has(word, wide):
			return true, false
		case !fillers.has(word, wide):
			return v.has(wholeWord(buf[len(word):len(word)], text, floor, start, end), wide), false
		}
		words++
		at = start
	}
	return false, false
}

// wholeWord appends the word that ends at end in small letters, where it begins
// before start: WhatsApp.
func wholeWord(dst []byte, text string, floor, start, end int) []byte {
	first := start
	for first > floor && isASCIILetter(text[first-1]) {
		first--
	}
	if first == start || len(dst)+end-first > cap(dst) {
		return nil
	}
	for i := first; i < end; i++ {
		dst = append(dst, foldLetter(text[i]))
	}
	return dst
}

// wordStart returns where the word before text[end] begins. A capital after a
// small letter begins one, as in homePhone, and so does a digit after a letter.
func wordStart(text string, floor, end int) int {
	start := end
	var next rune
	for start > floor {
		r, size := lastRune(text, floor, start)
		if !isWord(r) || next != 0 && (unicode.IsUpper(next) && unicode.IsLower(r) || unicode.IsDigit(next) != unicode.IsDigit(r)) {
			break
		}
		start -= size
		next = r
	}
	return start
}

// lastRune returns the last character of text[from:to], which is not empty.
func lastRune(text string, from, to int) (rune, int) {
	if c := text[to-1]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeLastRuneInString(text[from:to])
}
