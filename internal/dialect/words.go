package dialect

import (
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// maxWords bounds the calls that one span speaks of.
const maxWords = 32

// addWord notes what a span says of a call that it does not stand for.
func addWord(st *canon.Stated, w agent.CallWord) {
	if len(st.Words) < maxWords {
		st.Words = append(st.Words, w)
	}
}
