package redact

import (
	"net/netip"
	"strings"
	"unicode/utf8"
)

// ip finds addresses of IPv4 and IPv6, of whatever range, also with a port, a
// prefix length or a zone, which stay. Not: versions (told by what leads up to
// them, or by their marks), times, MAC addresses, fingerprints, names in code.
var ip = detector{
	name: "ip", label: "IP", pairs: pairsWith("0123456789abcdefABCDEF:", ':'),
	match: matchIPv6, number: matchIPv4, normal: appendIP,
}

var versionWords = newVocabulary("version versions ver build release releases notes firmware rev revision sdk driver chapter section sections sec clause " +
	"paragraph figure fig table appendix article step oid assembly chrome edge firefox safari opera upgrade upgraded upgrading update updated " +
	"downgrade downgraded bump bumped java kernel patch fileversion productversion assemblyversion semver tag package library lib plugin module " +
	"dependency requires installed chapters para numbering outline heading toc level версия версии версию 版本 バージョン 버전")

// productWords are names before a version, and sometimes before a public address.
var productWords = newVocabulary("python ruby php perl node nodejs dotnet excel outlook ios ipados macos windows android openssl oracle app application office unity unreal")

// pairsWith returns the pairs of each byte with one that follows it.
func pairsWith(first string, second byte) []string {
	var list []string
	for i := range len(first) {
		list = append(list, string([]byte{first[i], second}))
	}
	return list
}

func matchIPv4(in *input, n *number, g, floor int) (start, end int) {
	text := in.text
	if g+4 > n.n {
		return 0, 0
	}
	start, end = n.groups[g].start, n.groups[g+3].end
	if start < floor || end-start > 15 || g > 0 && n.between(text, g) == "." || g+4 < n.n && n.between(text, g+4) == "." {
		return 0, 0
	}
	for k := g; k < g+4; k++ {
		if k > g && n.between(text, k) != "." || n.size(k) > 3 || n.size(k) > 1 && text[n.groups[k].start] == '0' {
			return 0, 0
		}
	}
	for k := g; k < g+4; k++ {
		if n.size(k) == 3 && text[n.groups[k].start:n.groups[k].end] > "255" {
			return 0, 0
		}
	}
	if !addressBoundary(text, start, end) || isVersion(in, start, end) {
		return 0, 0
	}
	return start, end
}

// addressBoundary reports whether no word goes on before or behind an address.
func addressBoundary(text string, start, end int) bool {
	before, after := byteAt(text, start-1), byteAt(text, end)
	if asciiAlnum(before) || before == '.' || asciiAlnum(after) || after == '_' {
		return false
	}
	next := byteAt(text, end+1)
	switch after {
	case '.':
		return !asciiAlnum(next)
	case '-', '+':
		return !isASCIILetter(next) // 1.2.3.4-rc1
	}
	return before != '-' && before != '_' || !isASCIILetter(byteAt(text, start-2))
}

// isVersion reports whether four numbers with dots are a version.
func isVersion(in *input, start, end int) bool {
	text := in.text
	before, earlier := byteAt(text, start-1), byteAt(text, start-2)
	switch {
	case before == '>' && byteAt(text, end) == '<': // <ip>1.2.3.4</ip>, <Version>1.2.3.4</Version>
	case before == '=' && strings.IndexByte("=<>~!^", earlier) >= 0, before == '^', before == '~', before == '>', before == '<' && byteAt(text, end) != '>',
		before == ' ' && isBound(text[:start-1]):
		return true
	case before == '/' && isASCIILetter(earlier) && isProduct(text[:start-1]):
		return true
	case strings.HasSuffix(text[start:end], ".0.0") && byteAt(text, end) != '/' && !isPrivateNet(text[start:end]):
		return true
	case strings.HasSuffix(text[:start], "§ "), strings.HasSuffix(text[:start], "§"), before == '#':
		return true
	}
	return in.introduced(start, versionWords) || before == ' ' && isASCIILetter(earlier) && !isPrivate(text[start:end]) && in.introduced(start, productWords)
}

// isBound reports whether a text ends in a sign that says how new a version must be.
func isBound(text string) bool {
	for _, sign := range []string{">=", "<=", "~>", "~="} {
		if strings.HasSuffix(text, sign) {
			return true
		}
	}
	return false
}

// isPrivate reports whether an address is of a network that is not routed.
func isPrivate(addr string) bool {
	a, err := netip.ParseAddr(addr)
	return err == nil && (a.IsPrivate() || a.IsLoopback())
}

// isProduct reports whether a text ends in a product's name, as user agents have:
// letters from a capital on.
func isProduct(text string) bool {
	i := len(text)
	for i > 0 && isASCIILetter(text[i-1]) {
		i--
	}
	return text[i]-'A' < 26
}

func isPrivateNet(addr string) bool {
	switch addr {
	case "10.0.0.0", "127.0.0.0", "0.0.0.0", "255.0.0.0", "255.255.0.0", "169.254.0.0", "192.168.0.0":
		return true
	}
	return strings.HasPrefix(addr, "10.") || strings.HasPrefix(addr, "172.")
}

// matchIPv6 looks at the first colon of an address.
func matchIPv6(in *input, floor, i int) (start, end int) {
	text := in.text
	start = i
	for start > floor && start > i-5 && isHex(text[start-1]) {
		start--
	}
	if start == i {
		if byteAt(text, i-1) != ':' || i-1 < floor || asciiAlnum(byteAt(text, i-2)) || byteAt(text, i-2) == ':' || byteAt(text, i+1) == ':' {
			return 0, 0
		}
		start = i - 1 // ::1
	}
	if before := byteAt(text, start-1); before == ':' && !isLabelColon(text, floor, start-1) || before == '_' || asciiAlnum(before) || before == '.' || i-start > 4 {
		return 0, 0
	}
	end, colons := start, 0
	for end < len(text) && end-start < 46 && (isHex(text[end]) || text[end] == ':' || text[end] == '.') {
		if text[end] == ':' {
			colons++
		}
		end++
	}
	if colons < 2 || end < len(text) && (asciiAlnum(text[end]) || text[end] == '_') {
		return 0, 0
	}
	for end > start && (text[end-1] == '.' || text[end-1] == ':' && !strings.HasSuffix(text[start:end], "::")) {
		end--
	}
	if colons < 7 && !strings.Contains(text[start:end], "::") && (colons != 6 || !strings.Contains(text[start:end], ".")) {
		return 0, 0 // a time, mostly
	}
	addr, err := netip.ParseAddr(text[start:end])
	if err != nil || !addr.Is6() || !isIPv6(text, start, end) {
		return 0, 0
	}
	return start, end
}

// isLabelColon reports whether the colon at i stands behind a word that is no group
// of an address: ip:2001:db8::1.
func isLabelColon(text string, floor, i int) bool {
	for k := i - 1; k >= floor && k > i-24; k-- {
		switch c := text[k]; {
		case c >= utf8.RuneSelf, isASCIILetter(c) && !isHex(c):
			return true
		case !asciiAlnum(c) && c != '_' && c != '-':
			return false
		}
	}
	return false
}

// isIPv6 reports whether what can be read as an address is one, and no slice, name
// in code or row of bytes.
func isIPv6(text string, start, end int) bool {
	s := text[start:end]
	var buf [9]string // an address has eight
	groups := buf[:0]
	for part := range strings.SplitSeq(s, ":") {
		if part != "" && len(groups) < len(buf) {
			groups = append(groups, part)
		}
	}
	if !strings.Contains(s, "::") {
		short := 0
		for _, g := range groups {
			if len(g) == 2 {
				short++
			}
		}
		return short < 8
	}
	if before := byteAt(text, start-1); before == '[' && (asciiAlnum(byteAt(text, start-2)) || strings.IndexByte("_])", byteAt(text, start-2)) >= 0) {
		return false
	}
	switch len(groups) {
	case 0:
		return false
	case 1:
		return s == "::1" || len(groups[0]) == 4 && strings.HasSuffix(s, "::") && isNetworkGroup(groups[0])
	case 2:
		return isNetworkGroup(groups[0]) || strings.EqualFold(groups[0], "ffff") || strings.Contains(groups[1], ".") || groups[0] == "64"
	}
	return strings.ContainsAny(s, "0123456789")
}

// isNetworkGroup reports whether a first group is one of addresses in use.
func isNetworkGroup(g string) bool {
	return len(g) == 4 && (g[0] == '2' || g[0] == '3' || g[0]|0x20 == 'f' && (g[1]|0x20 >= 'c' || g[1]|0x20 == 'e' && g[1] > '9'))
}

// appendIP appends an address in its shortest form.
func appendIP(dst []byte, value string) []byte {
	addr, err := netip.ParseAddr(value)
	if err != nil {
		return append(dst, value...)
	}
	return addr.Unmap().AppendTo(dst)
}
