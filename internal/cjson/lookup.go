package cjson

import "strings"

// Find returns the value at a path, as written: the names of members, and the
// decimal numbers of elements, from the outside in. JSON inside strings is
// entered as if it were no string, MaxUnfold levels deep. Of members with one
// name the last counts. An empty path is the whole value. It reports false where
// there is no such value, or the text is no JSON.
func Find(src string, path ...string) (raw string, ok bool) {
	if !Valid(src) {
		return "", false
	}
	raw = strings.Trim(src, " \n\r\t")
	unfolded := 0
	for _, step := range path {
		for kindOf(raw[0]) == KindString && unfolded < MaxUnfold {
			unfolded++
			inner := strings.Trim(Text(raw), " \n\r\t")
			if !isNested(bytesOf(inner)) || !Valid(inner) {
				return "", false
			}
			raw = inner
		}
		if raw, ok = child(raw, step); !ok {
			return "", false
		}
	}
	return raw, true
}

// child returns the member or element of a valid value that a step names.
func child(raw, step string) (found string, ok bool) {
	s := Scan(raw)
	switch s.Kind() {
	case KindObject:
		for s.Object(); s.Next(); {
			if s.Key() == step {
				found, ok = s.Raw(), true
			}
		}
	case KindArray:
		if !isShortInteger(step) || step == "" || len(step) > 1 && step[0] == '0' {
			return "", false
		}
		n := 0
		for s.Array(); s.Next(); n++ {
			if !ok && isIndex(step, n) {
				found, ok = s.Raw(), true
			}
		}
	}
	return found, ok
}

// isIndex reports whether step is n in decimal.
func isIndex(step string, n int) bool {
	i := len(step)
	for ; i > 0; i-- {
		if step[i-1] != byte('0'+n%10) {
			return false
		}
		if n /= 10; n == 0 {
			return i == 1
		}
	}
	return false
}

// Lookup returns the scalar at a path (see Find) as text: strings decoded,
// integers plain ("12" for 12, 12.0 and 1.2e1), other numbers as decimals
// without trailing zeros, "true" and "false". It reports false for null, for
// arrays and objects, and where there is no such value.
func Lookup(src string, path ...string) (value string, ok bool) {
	raw, ok := Find(src, path...)
	if !ok {
		return "", false
	}
	switch kindOf(raw[0]) {
	case KindString:
		return Text(raw), true
	case KindNumber:
		return plainNumber(raw), true
	case KindBool:
		return raw, true
	}
	return "", false
}
