package store

import "sync"

// storedRows remembers content-addressed rows whose insert succeeded, so that
// they are not sent again: a model call repeats its whole context. It forgets
// the oldest half when it is full; what it forgot is sent once more and merged
// away. It is safe for concurrent use. A nil one knows of nothing.
type storedRows struct {
	mu       sync.Mutex
	new, old map[rowKey]struct{}
	half     int
}

// storedHalf rows take about 8 MB; two halves are held.
const storedHalf = 1 << 17

func newStoredRows(half int) *storedRows {
	return &storedRows{new: make(map[rowKey]struct{}), half: half}
}

func (s *storedRows) has(k rowKey) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.new[k]; ok {
		return true
	}
	_, ok := s.old[k]
	return ok
}

func (s *storedRows) add(keys []rowKey) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		if len(s.new) >= s.half {
			s.old, s.new = s.new, make(map[rowKey]struct{}, s.half/4)
		}
		s.new[k] = struct{}{}
	}
}
