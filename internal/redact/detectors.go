package redact

import (
	"errors"
	"strings"
)

// detectors lists all detectors in the order in which they look at a trigger
// byte they share: the first that matches takes the text. One that needs more
// context goes before one that would take a part of its match.
func detectors() []*detector {
	return []*detector{
		&ownPlaceholder, // before all: what we wrote is not looked into
		&email,
	}
}

// A detector finds values of one kind at its trigger bytes, in text whose
// spellings are undone.
type detector struct {
	// name is what the policy calls it. Without one it always runs.
	name string
	// label is what its placeholders say.
	label label
	// triggers are the bytes one of which every value holds.
	triggers string
	// match returns the value at the trigger byte text[i], or an end of 0. It must
	// not begin before floor, and the work of all calls on a text together must be
	// linear in it.
	match func(text string, floor, i int) (start, end int)
	// normal appends the value in the form in which equal values are equal.
	normal func(dst []byte, value string) []byte
}

// detectorNamed returns the detector of a name, nil for none.
func detectorNamed(name string) *detector {
	for _, d := range detectors() {
		if d.name == name && name != "" {
			return d
		}
	}
	return nil
}

// DetectorNames returns the names that Config.Detectors may hold.
func DetectorNames() []string {
	var names []string
	for _, d := range detectors() {
		if d.name != "" {
			names = append(names, d.name)
		}
	}
	return names
}

// order is the place of a detector in the list.
func (d *detector) order() int {
	for n, other := range detectors() {
		if other == d {
			return n
		}
	}
	return -1
}

// label is the name in a placeholder: capitals, digits and underscores, from a
// letter on, 2 to maxLabel long.
type label string

const maxLabel = 32

// newLabel makes the label of a name: patient_id is PATIENT_ID.
func newLabel(name string) (label, error) {
	s := strings.ToUpper(strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r == ' ' {
			return '_'
		}
		return r
	}, name))
	if len(s) < 2 || len(s) > maxLabel || labelLen(s) != len(s) {
		return "", errors.New("a name has 2 to 32 letters, digits, - and _, and begins with a letter")
	}
	return label(s), nil
}

// labelLen returns the length of the label at the start of s.
func labelLen(s string) int {
	n := 0
	for n < len(s) && (s[n]-'A' < 26 || n > 0 && (s[n]-'0' < 10 || s[n] == '_')) {
		n++
	}
	return n
}
