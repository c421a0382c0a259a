package query

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/steptrail/steptrail/internal/agent"
)

// A cursor is the place of the last item that was given, bound to the filters
// it was made with: version, list, hash of the filters, position, id. It is
// opaque to clients and holds nothing that the client has not seen; a forged one
// only moves the place within what the filters select anyway.
const (
	cursorVersion = 1
	cursorRuns    = 'r'
	cursorFinding = 'f'
	cursorOpen    = 'u' // the place is among open unknown outcomes
	cursorSettled = 's' // or among settled ones, which follow
	cursorHolds   = 'h'
	filterHashLen = 8
	cursorHead    = 2 + filterHashLen + 8
	maxCursor     = 8192
)

type filterHash [filterHashLen]byte

// hashFilter hashes a filter without its place and its limit, by which a cursor
// may go on with another page size.
func hashFilter(filter any) (h filterHash) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", filter))
	copy(h[:], sum[:])
	return h
}

func (f RunFilter) hash() filterHash {
	f.After, f.Limit = RunKey{}, 0
	return hashFilter(f)
}

func (f FindingFilter) hash() filterHash {
	f.After, f.Limit = FindingKey{}, 0
	return hashFilter(f)
}

func (f UnknownFilter) hash() filterHash {
	f.After, f.Limit = UnknownKey{}, 0
	return hashFilter(f)
}

func encodeCursor(list byte, h filterHash, at int64, id string) string {
	b := make([]byte, 0, cursorHead+len(id))
	b = append(b, cursorVersion, list)
	b = append(b, h[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(at))
	return base64.RawURLEncoding.EncodeToString(append(b, id...))
}

func decodeCursor(list byte, h filterHash, s string) (at int64, id string, err error) {
	if len(s) > maxCursor {
		return 0, "", badParameter("cursor", "is longer than %d characters", maxCursor)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < cursorHead || b[0] != cursorVersion || b[1] != list || !utf8.Valid(b[cursorHead:]) {
		return 0, "", badParameter("cursor", "is none that this list gave; take next_cursor of the page before as it is")
	}
	if filterHash(b[2:2+filterHashLen]) != h {
		return 0, "", badParameter("cursor", "belongs to a query with other filters; repeat the filters of the first page")
	}
	return int64(binary.BigEndian.Uint64(b[2+filterHashLen:])), string(b[cursorHead:]), nil
}

func (f RunFilter) cursor(last agent.Summary) string {
	return encodeCursor(cursorRuns, f.hash(), last.Started, last.RunID)
}

func (f RunFilter) after(cursor string) (RunKey, error) {
	at, id, err := decodeCursor(cursorRuns, f.hash(), cursor)
	if err == nil && id == "" {
		err = badParameter("cursor", "names no run")
	}
	return RunKey{Started: at, RunID: id}, err
}

func (f FindingFilter) cursor(last agent.Finding) string {
	return encodeCursor(cursorFinding, f.hash(), last.DetectedAt, last.ID.String())
}

func (f FindingFilter) after(cursor string) (FindingKey, error) {
	at, id, err := decodeCursor(cursorFinding, f.hash(), cursor)
	if err != nil {
		return FindingKey{}, err
	}
	k := FindingKey{DetectedAt: at}
	if k.ID, err = agent.ParseFindingID(id); err != nil {
		return FindingKey{}, badParameter("cursor", "names no finding")
	}
	return k, nil
}

func (f UnknownFilter) cursor(last agent.Finding) string {
	list := byte(cursorOpen)
	if last.Status == agent.StatusResolved {
		list = cursorSettled
	}
	return encodeCursor(list, f.hash(), last.DetectedAt, last.ID.String())
}

func (f UnknownFilter) after(cursor string) (k UnknownKey, err error) {
	at, id, err := decodeCursor(cursorOpen, f.hash(), cursor)
	if err != nil {
		k.Resolved = true
		if at, id, err = decodeCursor(cursorSettled, f.hash(), cursor); err != nil {
			return UnknownKey{}, err
		}
	}
	k.Since = at
	if k.ID, err = agent.ParseFindingID(id); err != nil {
		return UnknownKey{}, badParameter("cursor", "names no unknown outcome")
	}
	return k, nil
}
