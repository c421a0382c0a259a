package agent

import "encoding/hex"

// ResolutionID names one word of a person on an unknown outcome. It is random.
type ResolutionID [16]byte

// String gives the id as 32 lower-case hex digits.
func (r ResolutionID) String() string { return hex.EncodeToString(r[:]) }

// ResolutionRecord is a resolution as it is kept: with who said it and why. It
// is never changed; the first on an attempt counts.
type ResolutionRecord struct {
	Resolution
	ID      ResolutionID
	Finding FindingID // as it was named then; the attempt is what counts
	Run     string    // likewise
	Actor   string    // as it called itself
	Note    string
	Expires int64 // Unix seconds
}
