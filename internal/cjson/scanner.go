package cjson

// A Scanner reads a JSON text from front to back without building a tree. The
// zero Scanner reads nothing; make one with Scan. It stands before a value, and
// each value is taken by exactly one of Text, AppendText, Raw, Skip, or by
// entering it:
//
//	s := cjson.Scan(src)
//	for s.Array(); s.Next(); {          // elements
//		for s.Object(); s.Next(); {     // members
//			switch s.Key() {
//			case "role":
//				role = s.Text()
//			case "parts":
//				parts = s.Raw()         // read later with another Scanner
//			}                           // what is not taken is skipped
//		}
//	}
//	err := s.Err()
//
// Every Array and Object is followed by Next until it is false: a loop is not
// left with break. On a value of another kind they open nothing: the value is
// skipped and Next is false. After an error nothing more is read, so loops end.
// What was read before an error may belong to a text that is no JSON: ask Err,
// or Valid first. Strings that need no decoding are slices of the source.
type Scanner struct {
	src   string
	pos   int
	err   error
	key   string
	depth int
	// objects has a bit per open level, set for an object.
	objects [MaxDepth/64 + 1]uint64
	// closed: Array or Object opened nothing, the next Next is false.
	closed bool
	// fresh: a container was opened and no comma is expected yet.
	fresh bool
	// pending: the cursor stands before a value that was not taken.
	pending bool
}

// Scan returns a Scanner that stands before the value in src.
func Scan(src string) Scanner {
	s := Scanner{src: src, pending: true}
	s.pos = skipSpace(bytesOf(src), 0)
	return s
}

// Err returns the first error met: nil, ErrSyntax or ErrDepth.
func (s *Scanner) Err() error { return s.err }

// End reports whether the one value of the source was read to its end without
// an error and nothing but white space follows it.
func (s *Scanner) End() bool {
	if s.pending && s.depth == 0 {
		s.Skip()
	}
	if s.err != nil || s.depth != 0 {
		return false
	}
	return skipSpace(bytesOf(s.src), s.pos) == len(s.src)
}

// Kind returns the kind of the value that the cursor stands before.
func (s *Scanner) Kind() Kind {
	if !s.pending || s.err != nil || s.pos >= len(s.src) {
		return KindNone
	}
	return kindOf(s.src[s.pos])
}

// Key returns the decoded name of the member that Next moved to.
func (s *Scanner) Key() string { return s.key }

// Array enters an array; Next moves to its elements.
func (s *Scanner) Array() { s.enter('[', false) }

// Object enters an object; Next moves to its members.
func (s *Scanner) Object() { s.enter('{', true) }

func (s *Scanner) enter(open byte, object bool) {
	if s.err != nil {
		return
	}
	if !s.pending || s.pos >= len(s.src) || s.src[s.pos] != open {
		s.take()
		s.closed = true
		return
	}
	if s.depth >= MaxDepth {
		s.fail(ErrDepth)
		return
	}
	s.depth++
	if object {
		s.objects[s.depth/64] |= 1 << (s.depth % 64)
	} else {
		s.objects[s.depth/64] &^= 1 << (s.depth % 64)
	}
	s.pos++
	s.pending, s.fresh, s.closed = false, true, false
}

// Next moves to the next element or member of the innermost open container and
// reports whether there is one; a value that was not taken is skipped. At the
// end it leaves the container.
func (s *Scanner) Next() bool {
	if s.closed {
		s.closed = false
		return false
	}
	if s.pending {
		s.Skip()
	}
	if s.err != nil || s.depth == 0 {
		return false
	}
	b := bytesOf(s.src)
	i := skipSpace(b, s.pos)
	if i >= len(b) {
		return s.fail(ErrSyntax)
	}
	object := s.objects[s.depth/64]&(1<<(s.depth%64)) != 0
	if b[i] == closer(object) {
		s.pos, s.fresh = i+1, false
		s.depth--
		return false
	}
	if !s.fresh {
		if b[i] != ',' {
			return s.fail(ErrSyntax)
		}
		i = skipSpace(b, i+1)
	}
	s.fresh = false
	if object {
		if i >= len(b) || b[i] != '"' {
			return s.fail(ErrSyntax)
		}
		end, t, err := skipString(b, i+1)
		if err != nil {
			return s.fail(err)
		}
		s.key = decoded(s.src[i+1:end], t)
		if i, err = skipColon(b, end+1); err != nil {
			return s.fail(err)
		}
	}
	if i >= len(b) || kindOf(b[i]) == KindNone {
		return s.fail(ErrSyntax)
	}
	s.pos, s.pending = i, true
	return true
}

// Skip passes over the value.
func (s *Scanner) Skip() { s.take() }

// Raw takes the value and returns its text as written, a slice of the source.
func (s *Scanner) Raw() string {
	from := s.pos
	if !s.take() {
		return ""
	}
	return s.src[from:s.pos]
}

// Text takes the value and returns a string decoded and any other value as it
// is written. It allocates only for strings with escapes or invalid UTF-8.
func (s *Scanner) Text() string {
	inner, t, ok := s.takeString()
	if !ok {
		return s.Raw()
	}
	return decoded(inner, t)
}

// AppendText is Text into a buffer of the caller.
func (s *Scanner) AppendText(dst []byte) []byte {
	inner, t, ok := s.takeString()
	if !ok {
		return append(dst, s.Raw()...)
	}
	return appendDecoded(dst, inner, t)
}

func (s *Scanner) takeString() (inner string, t traits, ok bool) {
	if s.Kind() != KindString {
		return "", 0, false
	}
	end, t, err := skipString(bytesOf(s.src), s.pos+1)
	if err != nil {
		s.fail(err)
		return "", 0, true
	}
	inner = s.src[s.pos+1 : end]
	s.pos, s.pending = end+1, false
	return inner, t, true
}

func (s *Scanner) take() bool {
	if s.err != nil || !s.pending {
		return false
	}
	end, err := skipValue(bytesOf(s.src), s.pos, s.depth)
	if err != nil {
		return s.fail(err)
	}
	s.pos, s.pending = end, false
	return true
}

func (s *Scanner) fail(err error) bool {
	s.err, s.pending = err, false
	return false
}
