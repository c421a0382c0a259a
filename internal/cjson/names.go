package cjson

import "strings"

// name is a field's name in two forms: its words joined by '_', and joined by
// nothing, both in lower case.
type name struct {
	words  string // request_id for requestId, request-id, RequestID
	joined string // requestid
}

// newName splits a name into words at separators and at capitals. buf has room
// for two times maxName.
func newName(buf, key []byte) name {
	words, joined := buf[:0:maxName], buf[maxName:maxName]
	for i, c := range key {
		switch {
		case 'A' <= c && c <= 'Z':
			capital := i > 0 && 'A' <= key[i-1] && key[i-1] <= 'Z'
			ends := i+1 < len(key) && 'a' <= key[i+1] && key[i+1] <= 'z'
			if i > 0 && (!capital || ends) {
				words = appendSeparator(words)
			}
			words, joined = appendLimited(words, c|0x20), append(joined, c|0x20)
		case c == '-' || c == ' ' || c == '.' || c == '_':
			words = appendSeparator(words)
		default:
			words, joined = appendLimited(words, c), append(joined, c)
		}
	}
	return name{words: stringOf(words), joined: stringOf(joined)}
}

// appendLimited never grows beyond the first half of the buffer: a name with
// that many words is no name of ours.
func appendLimited(words []byte, c byte) []byte {
	if len(words) == cap(words) {
		return words
	}
	return append(words, c)
}

func appendSeparator(words []byte) []byte {
	if n := len(words); n == 0 || words[n-1] == '_' {
		return words
	}
	return appendLimited(words, '_')
}

func (n name) isRequestID() bool {
	switch n.joined {
	case "requestid", "reqid", "xrequestid", "clientrequestid", "httprequestid", "apirequestid", "serverrequestid",
		"upstreamrequestid", "awsrequestid", "amznrequestid", "xamznrequestid", "xamzrequestid", "openairequestid",
		"requestuuid", "requestguid", "correlationid", "xcorrelationid", "clientcorrelationid", "correlationuuid",
		"traceid", "xtraceid", "traceuuid", "invocationid":
		return true
	}
	return false
}

// isResultID: ids of the exchange that only a result or an envelope carries.
func (n name) isResultID() bool {
	switch n.joined {
	case "spanid", "traceparent", "toolcallid", "tooluseid", "cfray", "xamzid2", "xamzcfid":
		return true
	}
	return false
}

func (n name) isNonce() bool {
	switch n.joined {
	case "nonce", "cnonce", "cachebuster", "cachebust":
		return true
	}
	return strings.HasSuffix(n.words, "_nonce")
}

func (n name) isPID() bool {
	switch n.joined {
	case "pid", "ppid", "processid":
		return true
	}
	return strings.HasSuffix(n.words, "_pid")
}

func (n name) isSenderClock() bool {
	switch n.joined {
	case "timestamp", "now", "sentat", "requestedat":
		return true
	}
	return false
}

// isClock reports whether the name says when something was seen or done.
func (n name) isClock() bool {
	words := trimUnit(n.words)
	last := words[strings.LastIndexByte(words, '_')+1:]
	switch last {
	case "at", "timestamp", "ts", "time", "datetime", "date", "now", "clock", "since", "created", "updated", "modified",
		"changed", "checked", "seen", "refreshed", "fetched", "generated", "observed", "synced", "heartbeat", "started",
		"finished", "ended", "completed", "asof", "of":
	default:
		return false
	}
	if last == "of" && n.joined != "asof" {
		return false
	}
	for word := range strings.SplitSeq(words, "_") {
		switch word {
		case "scheduled", "schedule", "planned", "estimated", "expected", "eta", "due", "deadline", "departure", "departs",
			"arrival", "arrives", "appointment", "pickup", "delivery", "available", "opens", "opening", "closes", "closing",
			"boarding", "starts", "ends", "slot", "valid", "next", "booking":
			return false
		}
	}
	return true
}

// isDuration reports whether the name says how long something took.
func (n name) isDuration() bool {
	words := trimUnit(n.words)
	kind := ""
	for word := range strings.SplitSeq(words, "_") {
		switch word {
		case "duration", "elapsed", "latency", "took", "uptime", "runtime", "walltime", "rtt",
			"durationms", "elapsedms", "latencyms", "tookms", "durationseconds", "elapsedseconds":
			return true
		case "response", "execution", "exec", "processing", "process", "query", "wall", "cpu", "run", "total", "compute",
			"render", "load", "build", "fetch", "request", "wait", "queue", "search", "trip", "real":
			kind = word
		case "time":
			if kind != "" {
				return true
			}
		}
	}
	return false
}

// trimUnit removes a unit or zone at the end of a name: created_at_ms.
func trimUnit(words string) string {
	n := strings.LastIndexByte(words, '_')
	if n < 0 {
		return words
	}
	switch words[n+1:] {
	case "ms", "us", "ns", "s", "sec", "secs", "seconds", "millis", "nanos", "utc", "gmt", "unix", "epoch", "iso":
		return words[:n]
	}
	return words
}
