package cjson

import "strings"

// IsPlaceholder reports whether a recorded value holds a placeholder or mask
// that another program put in the place of content, as the whole value or inside
// it; such a value is not comparable (conventions.md, "Comparable"). These are
//
//	__REDACTED__                       (also __MASKED__, __FILTERED__, __SCRUBBED__)
//	[REDACTED] [EMAIL] [ORDER] [IP_1]  a word in capitals in brackets: a detector's or field's name
//	[Redacted: …] [Scrubbed due to …]  a word for it, and what the program adds
//	<EMAIL_ADDRESS> <REDACTED>         the same of Presidio: its own names only, since <HTML> is none
//	****                               four or more asterisks in a row
//
// Not: log levels and status words ([ERROR], [OK]), an index (buf[SIZE]), the
// text of a link ([README](…)), [A], [1], and Steptrail's own keyed pseudonyms
// ([EMAIL:9f3a…]), which compare.
func IsPlaceholder(s string) bool {
	if strings.Contains(s, "****") || hasUnderscored(s) {
		return true
	}
	for from := 0; ; {
		n := strings.IndexByte(s[from:], '[')
		if n < 0 {
			break
		}
		from += n + 1
		if isBracketed(s, from) {
			return true
		}
	}
	for from := 0; ; {
		n := strings.IndexByte(s[from:], '<')
		if n < 0 {
			return false
		}
		from += n + 1
		if isAngled(s[from:]) {
			return true
		}
	}
}

func hasUnderscored(s string) bool {
	for {
		n := strings.Index(s, "__")
		if n < 0 {
			return false
		}
		s = s[n+2:]
		for _, word := range [...]string{"REDACTED__", "MASKED__", "FILTERED__", "SCRUBBED__"} {
			if hasPrefixFold(s, word) {
				return true
			}
		}
	}
}

// maxBracketed is the longest name looked for in brackets.
const maxBracketed = 40

// isBracketed looks at what follows an opening bracket before s[i].
func isBracketed(s string, i int) bool {
	in := s[i:]
	for _, word := range [...]string{"redacted", "scrubbed", "masked", "filtered"} {
		if hasPrefixFold(in, word) {
			rest := in[len(word):]
			if rest == "" || rest[0] == ' ' && (word == "filtered" || word == "masked") {
				return false // "[filtered results]" hides nothing
			}
			return rest[0] == ']' || rest[0] == ':' || rest[0] == ' ' || rest[0] == '_'
		}
	}
	n, letters := 0, 0
	for n < len(in) && n <= maxBracketed && (in[n]-'A' < 26 || isDigit(in[n]) || in[n] == '_') {
		if in[n]-'A' < 26 {
			letters++
		}
		n++
	}
	if n >= len(in) || in[n] != ']' || letters < 2 || in[0]-'A' >= 26 {
		return false
	}
	if i >= 2 && (isAlnum(s[i-2]) || s[i-2] == '_' || s[i-2] == ']' || s[i-2] == ')') && !isEscape(s, i-2) {
		return false // an index
	}
	if n+1 < len(in) && in[n+1] == '(' {
		return false // a link
	}
	word := strings.TrimRight(in[:n], "0123456789_")
	if letters == 2 {
		return word == "IP"
	}
	return !isStatusWord(word)
}

// isEscape reports whether s[i] is the letter of a JSON escape, as n in \n.
func isEscape(s string, i int) bool {
	slashes := 0
	for i-slashes > 0 && s[i-slashes-1] == '\\' {
		slashes++
	}
	return slashes%2 == 1
}

// isStatusWord: what programs write in brackets that hides nothing.
func isStatusWord(word string) bool {
	switch word {
	case "TRACE", "DEBUG", "VERBOSE", "INFO", "INFORMATION", "NOTICE", "WARN", "WARNING", "ERR", "ERROR", "ERRORS", "SEVERE",
		"CRIT", "CRITICAL", "ALERT", "EMERG", "EMERGENCY", "FATAL", "PANIC", "LOG", "STDOUT", "STDERR", "STDIN", "OUTPUT",
		"INPUT", "RESULT", "RESULTS", "SUCCESS", "SUCCEEDED", "SUCCESSFUL", "FAIL", "FAILED", "FAILURE", "PASS", "PASSED",
		"SKIP", "SKIPPED", "DONE", "TODO", "FIXME", "NOTE", "HINT", "TIP", "IMPORTANT", "CAUTION", "WIP", "DRAFT", "NEW",
		"OPEN", "OPENED", "CLOSED", "ACTIVE", "INACTIVE", "ENABLED", "DISABLED", "READY", "PENDING", "QUEUED", "WAITING",
		"RUNNING", "STARTED", "STARTING", "STOPPED", "STOPPING", "START", "STOP", "BEGIN", "END", "FINISHED", "COMPLETE",
		"COMPLETED", "INCOMPLETE", "ABORTED", "CANCELLED", "CANCELED", "CANCEL", "TIMEOUT", "RETRY", "RETRYING", "BLOCKED",
		"REJECTED", "APPROVED", "ACCEPTED", "DENIED", "EXPIRED", "UNKNOWN", "INVALID", "VALID", "MISSING", "FOUND", "NONE",
		"NULL", "NIL", "NAN", "TRUE", "FALSE", "YES", "ONLINE", "OFFLINE", "UP", "DOWN", "HEALTHY", "UNHEALTHY", "DEGRADED",
		"DEPRECATED", "EXPERIMENTAL", "BETA", "ALPHA", "STABLE", "OPTIONAL", "REQUIRED", "DEFAULT", "EMPTY", "TRUNCATED",
		"MORE", "BUILD", "TEST", "TESTS", "RUN", "MAIN", "SYSTEM", "ASSISTANT", "TOOL", "AGENT", "INST", "CLS", "SEP",
		"PAD", "UNK", "EOS", "BOS", "CDATA", "SIC", "UPDATE", "UPDATED", "ADDED", "REMOVED", "CHANGED", "FIXED",
		"CREATED", "DELETED", "MODIFIED", "UNCHANGED", "PAID", "UNPAID", "SENT", "SHIPPED", "DELIVERED", "PROCESSING",
		"PROCESSED", "HIGH", "MEDIUM", "LOW", "URGENT", "NORMAL":
		return true
	}
	return false
}

// isAngled looks at what follows a '<'.
func isAngled(in string) bool {
	end := strings.IndexByte(in[:min(len(in), maxBracketed)], '>')
	if end < 0 {
		return false
	}
	switch strings.TrimRight(in[:end], "0123456789_") {
	case "REDACTED", "MASKED", "SCRUBBED", "FILTERED", "PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE",
		"IP_ADDRESS", "US_SSN", "US_PASSPORT", "US_BANK_NUMBER", "US_DRIVER_LICENSE", "US_ITIN", "CRYPTO", "MEDICAL_LICENSE",
		"UK_NHS", "NRP", "DATE_TIME", "LOCATION":
		return true
	}
	return false
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
