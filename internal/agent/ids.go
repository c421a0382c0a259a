package agent

import (
	"encoding/hex"
	"errors"
)

// TraceID is a W3C trace id. All zero means absent.
type TraceID [16]byte

// SpanID is a W3C span id. All zero means absent.
type SpanID [8]byte

// Ref names a message, argument or result body inside a unit: the first 16
// bytes of the SHA-256 of the body as stored. All zero means absent.
type Ref [16]byte

// Digest is a keyed hash of canonical content, by which calls are compared
// without keeping what they said. All zero means not recorded, or recorded but
// not comparable. Two zero digests are never equal to each other: compare with
// Same.
type Digest [16]byte

// Hash is a SHA-256.
type Hash [32]byte

// IsZero reports whether the id is absent.
func (t TraceID) IsZero() bool { return t == TraceID{} }

// String gives the id as 32 lower-case hex digits.
func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

// Compare orders ids by their bytes, as bytes.Compare does.
func (t TraceID) Compare(o TraceID) int { return compareBytes(t[:], o[:]) }

// IsZero reports whether the id is absent.
func (s SpanID) IsZero() bool { return s == SpanID{} }

// String gives the id as 16 lower-case hex digits.
func (s SpanID) String() string { return hex.EncodeToString(s[:]) }

// Compare orders ids by their bytes, as bytes.Compare does.
func (s SpanID) Compare(o SpanID) int { return compareBytes(s[:], o[:]) }

// IsZero reports whether the reference is absent.
func (r Ref) IsZero() bool { return r == Ref{} }

// String gives the reference as 32 lower-case hex digits.
func (r Ref) String() string { return hex.EncodeToString(r[:]) }

// IsZero reports whether nothing comparable was recorded.
func (d Digest) IsZero() bool { return d == Digest{} }

// Same reports whether both digests are of recorded content and equal.
func (d Digest) Same(o Digest) bool { return !d.IsZero() && d == o }

// String gives the digest as 32 lower-case hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// IsZero reports whether the hash is absent.
func (h Hash) IsZero() bool { return h == Hash{} }

// String gives the hash as 64 lower-case hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

var errID = errors.New("want lower- or upper-case hex digits")

// ParseTraceID reads 32 hex digits.
func ParseTraceID(s string) (t TraceID, err error) {
	err = parseHex(t[:], s)
	return t, err
}

// ParseSpanID reads 16 hex digits.
func ParseSpanID(s string) (id SpanID, err error) {
	err = parseHex(id[:], s)
	return id, err
}

func parseHex(dst []byte, s string) error {
	if len(s) != 2*len(dst) {
		return errID
	}
	if _, err := hex.Decode(dst, []byte(s)); err != nil {
		return errID
	}
	return nil
}

func compareBytes(a, b []byte) int {
	for i := range a {
		switch {
		case a[i] < b[i]:
			return -1
		case a[i] > b[i]:
			return 1
		}
	}
	return 0
}
