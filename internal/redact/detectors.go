package redact

import (
	"errors"
	"slices"
	"strings"
)

// detectors lists all detectors in the order in which they look at a trigger
// byte they share: the first that matches takes the text. One that needs more
// context goes before one that would take a part of its match.
func detectors() []*detector {
	return []*detector{
		&ownPlaceholder, // before all: what we wrote is not looked into
		&privateKey,     // holds text that looks like other values
		&urlCredentials, // before email: of user:pass@host.com the password is a secret
		&bearer,         // before jwt and apiKey, which a credential can be
		&jwt,
		&apiKey,
		&secretValue, // what stands under a secret's name, where no form is known
		&email,
		&iban, // numbers from here on: the longest forms first
		&telegram,
		&creditCard,
		&usSSN,
		&ip,
		&phone,
	}
}

// A detector finds values of one kind in text whose spellings are undone: at its
// trigger bytes, at its pairs, or where a row of digit groups stands.
type detector struct {
	// name is what the policy calls it. Several may share one. Without one it
	// always runs.
	name string
	// label is what its placeholders say.
	label label
	// triggers are bytes one of which every value holds, or stands behind.
	triggers string
	// pairs are pairs of bytes of that kind, for bytes that are too frequent.
	pairs []string
	// match returns the value at the trigger byte in.text[i] (of a pair the second
	// byte), or an end of 0. It must not begin before floor, and the work of all
	// calls on a text together must be linear in it.
	match func(in *input, floor, i int) (start, end int)
	// number is match for a value that begins with the group g of a row of digit
	// groups, or with up to 4 bytes before it.
	number func(in *input, n *number, g, floor int) (start, end int)
	// normal appends the value in the form in which equal values are equal.
	normal func(dst []byte, value string) []byte
}

// input is a text that is scanned, and the name it stands under: that of an
// attribute or of a JSON member, which may be empty.
type input struct {
	text  string
	under caption
	// runs remembers where the last rows of bytes ended, and connected what was
	// last said of a connection string: so that asking again within one costs
	// nothing.
	runs      [8]run
	nextRun   int
	connected connection
	// thin is where the user's name begins behind the last thin: of a data source, as
	// far as it was sought.
	thin, thinSought int
	// bare is the last value without quotes.
	bare struct{ from, to int }
}

// reset makes it the input for another text.
func (in *input) reset(text string) {
	in.text = text
	in.connected.at = 0
	in.thin, in.thinSought = 0, 0
	in.bare.from, in.bare.to = 0, 0
	if in.nextRun > 0 {
		in.runs, in.nextRun = [8]run{}, 0
	}
}

// run is a row of bytes of an alphabet.
type run struct {
	alphabet *alphabet
	from, to int
}

// end returns where the row of an alphabet's bytes ends that holds text[i].
func (in *input) end(a *alphabet, i int) int {
	for n := range in.runs {
		if r := &in.runs[n]; r.alphabet == a && r.from <= i && i < r.to {
			return r.to
		}
	}
	to := a.end(in.text, i)
	if to-i >= minRun {
		in.runs[in.nextRun%len(in.runs)] = run{alphabet: a, from: i, to: to}
		in.nextRun++
	}
	return to
}

// minRun is how long a row must be to be remembered.
const minRun = 128

// detectorsNamed returns the detectors of a name.
func detectorsNamed(name string) []*detector {
	var list []*detector
	for _, d := range detectors() {
		if d.name == name && name != "" {
			list = append(list, d)
		}
	}
	return list
}

// DetectorNames returns the names that Config.Detectors may hold.
func DetectorNames() []string {
	var names []string
	for _, d := range detectors() {
		if d.name != "" && !slices.Contains(names, d.name) {
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
