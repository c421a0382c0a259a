package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// timeLayout has all nine digits, so that times sort as text.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// Timestamp is a moment in Unix nanoseconds. As JSON it is RFC 3339 in UTC with nine
// digits of the second.
type Timestamp int64

// MarshalJSON never fails: every int64 of nanoseconds is a year of four digits.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, len(timeLayout)+2)
	b = append(b, '"')
	b = time.Unix(0, int64(t)).UTC().AppendFormat(b, timeLayout)
	return append(b, '"'), nil
}

// UnmarshalJSON reads any RFC 3339 time.
func (t *Timestamp) UnmarshalJSON(b []byte) error {
	var v time.Time
	if err := v.UnmarshalJSON(b); err != nil {
		return err
	}
	*t = Timestamp(v.UnixNano())
	return nil
}

// nanoUSD is the number of parts of a dollar that Money counts.
const nanoUSD = 1_000_000_000

// Money is money in 1e-9 US dollars. As JSON it is a plain decimal number of
// dollars, exact, without exponent.
type Money int64

// MarshalJSON never fails.
func (m Money) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 24)
	n := uint64(m) // two's complement, undone below
	if m < 0 {
		b = append(b, '-')
		n = -n
	}
	b = strconv.AppendUint(b, n/nanoUSD, 10)
	if part := n % nanoUSD; part != 0 {
		digits := strconv.FormatUint(part+nanoUSD, 10)[1:]
		b = append(b, '.')
		b = append(b, strings.TrimRight(digits, "0")...)
	}
	return b, nil
}

// UnmarshalJSON reads a number of dollars, rounded to 1e-9.
func (m *Money) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return errors.New("want a number of US dollars")
	}
	*m = Money(math.Round(f * nanoUSD))
	return nil
}

// RawJSON is one valid JSON value. Make it with NewJSON or StringJSON.
type RawJSON []byte

// NewJSON gives the text as the JSON value it is, or as a JSON string where it
// is none (cut off, not UTF-8, no JSON at all) or has a number beyond what
// clients can hold, at which many of them would refuse the whole answer.
func NewJSON(text string) RawJSON {
	if b := []byte(text); utf8.Valid(b) && json.Valid(b) && !overflows(b) {
		return b
	}
	return StringJSON(text)
}

// maxDigits is a length up to which a number without exponent is within a
// float64.
const maxDigits = 300

// overflows reports whether a number in valid JSON is beyond a float64.
func overflows(b []byte) bool {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case c == '-' || c >= '0' && c <= '9':
			from := i
			for i+1 < len(b) && strings.IndexByte("+-.0123456789eE", b[i+1]) >= 0 {
				i++
			}
			if number := b[from : i+1]; len(number) > maxDigits || bytes.ContainsAny(number, "eE") {
				if _, err := strconv.ParseFloat(string(number), 64); err != nil {
					return true
				}
			}
		}
	}
	return false
}

// StringJSON gives the text as a JSON string; bytes that are not UTF-8 become
// replacement characters.
func StringJSON(text string) RawJSON {
	b, err := json.Marshal(text)
	if err != nil {
		return RawJSON("null") // cannot happen: a string always has a JSON form
	}
	return b
}

// MarshalJSON gives the value itself; null for the zero value.
func (j RawJSON) MarshalJSON() ([]byte, error) {
	if len(j) == 0 {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps a copy of the value.
func (j *RawJSON) UnmarshalJSON(b []byte) error {
	*j = append((*j)[:0], b...)
	return nil
}
