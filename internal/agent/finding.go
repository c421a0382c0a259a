package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// FindingID identifies a finding whatever its order of arrival; see NewFindingID.
type FindingID [16]byte

// String gives the id as 32 lower-case hex digits.
func (f FindingID) String() string { return hex.EncodeToString(f[:]) }

// ParseFindingID reads 32 hex digits.
func ParseFindingID(s string) (f FindingID, err error) {
	err = parseHex(f[:], s)
	return f, err
}

// NewFindingID hashes what a finding is about. The anchor is what later
// evidence cannot move (design, section 3). Every part is length-prefixed, so
// that no two lists of parts hash alike by accident.
func NewFindingID(tenant, run, kind, anchor string) FindingID {
	h := sha256.New()
	var n [8]byte
	for _, s := range [...]string{tenant, run, kind, anchor} {
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	var f FindingID
	copy(f[:], h.Sum(nil))
	return f
}

// Finding is something that a detector found in a run.
type Finding struct {
	ID         FindingID
	Tenant     string
	Run        string
	Kind       string // such as key.duplicate
	Anchor     string
	Severity   Severity
	Status     Status
	Step       string // step id, where it is about one
	Tool       string
	Agent      string
	DetectedAt int64  // Unix nanoseconds: end of the last span it needs
	Message    string // one line for a person
	Evidence   []Evidence
	Waste      Waste
	MergedInto FindingID // where evidence moved it to another run or attempt; zero if not
	Expires    int64     // Unix seconds, when the row expires by the policy; 0: by the store's default
}

// Evidence is a span that a finding rests on.
type Evidence struct {
	Unit    string
	Trace   TraceID
	Span    SpanID
	Attempt int32
}

// Waste is what the repeated or doubled part took.
type Waste struct {
	Attempts int64
	Duration int64 // nanoseconds
	Tokens   int64
	CostNano int64 // 1e-9 USD
}
