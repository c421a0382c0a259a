package redact

import "strings"

// privateKey finds private keys in PEM (also OpenSSH, PGP, SSH2 and PuTTY), from
// their BEGIN to their END, or to the end of the text where that is missing; and
// the rest of one whose BEGIN is missing. Not: certificates, public keys.
var privateKey = detector{name: "private_key", label: "PRIVATE_KEY", pairs: []string{"BE", "EN", "uT"}, match: matchPrivateKey, normal: appendUnspaced}

// maxTitle is the longest "RSA PRIVATE KEY" that is looked for.
const maxTitle = 64

func matchPrivateKey(in *input, floor, i int) (start, end int) {
	text := in.text
	at := i - 1
	switch {
	case (strings.HasPrefix(text[at:], "BEGIN ") || strings.HasPrefix(text[at:], "BEGIN+")) && isTitle(text, at+6) && !isToldOf(text, at+6):
		start = at
		for start > floor && at-start < 8 && (text[start-1] == '-' || text[start-1] == ' ' && start == at) {
			start--
		}
		if at-start < 4 {
			return 0, 0
		}
		return start, keyEnd(text, at+6)
	case (strings.HasPrefix(text[at:], "END ") || strings.HasPrefix(text[at:], "END+")) && isTitle(text, at+4) && at >= 4 && strings.Trim(text[at-4:at], "- ") == "":
		return keyRest(text, floor, at)
	case at > floor && strings.HasPrefix(text[at-1:], "PuTTY-User-Key-File-"):
		if mac := strings.Index(text[at:], "Private-MAC:"); mac >= 0 {
			end = at + mac + len("Private-MAC:")
			return at - 1, base64Bytes.end(text, end+min(1, len(text)-end))
		}
		return at - 1, len(text)
	}
	return 0, 0
}

// isTitle reports whether a title at i is that of a private key.
func isTitle(text string, i int) bool {
	title := text[i:min(len(text), i+maxTitle)]
	if dash := strings.Index(title, "--"); dash >= 0 {
		title = title[:dash]
	} else if i+maxTitle < len(text) {
		return false
	}
	return strings.Contains(title, "PRIVATE") || strings.HasPrefix(title, "SSH2 ENCRYPTED") || isCut(title, len(title)) && cutTitle(title)
}

// cutTitle reports whether a title that ends with the text could have become a
// private key's.
func cutTitle(title string) bool {
	const key = "PRIVATE KEY"
	return title != "" && strings.HasPrefix(key, title[strings.LastIndexByte(title[:len(title)-1], ' ')+1:])
}

// isToldOf reports whether a title at i is that of a key that is only spoken of:
// two words in small letters follow it on its line.
func isToldOf(text string, i int) bool {
	rest := text[i:min(len(text), i+maxTitle)]
	n := strings.Index(rest, "--")
	if n < 0 {
		return false
	}
	rest = strings.TrimLeft(rest[n:], "-")
	for range 2 {
		if len(rest) < 2 || rest[0] != ' ' {
			return false
		}
		n = 1
		for n < len(rest) && rest[n]-'a' < 26 {
			n++
		}
		if n < 2 || n > 11 || n == len(rest) || strings.IndexByte(" .,;:", rest[n]) < 0 {
			return false
		}
		rest = rest[n:]
	}
	return true
}

// keyEnd returns where the key ends whose title begins at i.
func keyEnd(text string, i int) int {
	for at := i; ; {
		n := strings.Index(text[at:], "END")
		if n < 0 {
			return len(text)
		}
		at += n + 4
		if c := byteAt(text, at-1); c != ' ' && c != '+' || !isTitle(text, at) { // + in a form
			at = min(at, len(text))
			continue
		}
		for at < len(text) && text[at] != '-' {
			at++
		}
		for k := 0; k < 5 && at < len(text) && text[at] == '-'; k++ {
			at++
		}
		return at
	}
}

// keyRest returns what is left of a key whose END stands at i: the lines of base64
// before it.
func keyRest(text string, floor, i int) (start, end int) {
	start = i
	for start > floor && (base64Bytes[text[start-1]] || strings.IndexByte("=-\r\n\t \"',+\\", text[start-1]) >= 0) {
		start--
	}
	if i-start < 30 {
		return 0, 0
	}
	for start < i && strings.IndexByte("\r\n\t ", text[start]) >= 0 {
		start++
	}
	return start, keyEnd(text, i)
}

// appendUnspaced appends a value without white space.
func appendUnspaced(dst []byte, value string) []byte {
	for i := range len(value) {
		if c := value[i]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			dst = append(dst, c)
		}
	}
	return dst
}
