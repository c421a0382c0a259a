package cjson

// What is no news: the one place for the rule of design section 4.
//
// In arguments, told by the name of the field and the form of its value:
//
//	request ids       request_id, x-request-id, correlationId, trace_id and the like (isRequestID), if the value is a
//	                  UUID or 16 and more hex digits, and only beside other arguments: where they are all that the
//	                  call says, they are its subject
//	nonces            nonce, *_nonce, cache_buster; any value that is not empty
//	the sender's own  timestamp, now, sent_at, requested_at, if the value is a time within a minute of the span's start
//	clock
//
// Any other time, duration or id there is part of the call: order_id, starts_at,
// duration_ms, an idempotency key.
//
// In results, told by the name of the field:
//
//	request ids       the same names, span_id, tool_call_id, traceparent; any value that is not empty
//	nonces            as above
//	clocks            *_at, *_time, *_ts, timestamp, created, checked, last_seen … (isClock), if the value is a time:
//	                  a date with a time, hh:mm, or a Unix time; a date alone is none. Not names that say that the time
//	                  is the subject: departure_time, due_at, starts_at, next_slot
//	durations         a word duration, elapsed, latency, took, uptime, or response_time and the like (isDuration); any
//	                  number, or a text that begins as one
//	pids              pid, ppid, *_pid, process_id; a whole number above 0
//
// and in texts, that is plain results and strings with more than the one value,
// by form: a date with a time, hh:mm:ss, `pid N`, `took N ms` (also elapsed,
// duration, latency, and `in N ms`, `in 0.5 s`), `request <hex>` (also request
// id, req, trace, correlation). A string that is one time and nothing else, in
// a field whose name is not that of a clock, is told by the name: news.
//
// Whatever is replaced leaves a mark, so being there or not counts, and so does
// being empty (null, "", 0, false): delivered_at from null to a time is news. A
// duration or nonce of 0 is a value like any other.
//
// Names are compared without case, and `requestId`, `request-id`, `request_id`
// are one.

// class is what kind of value that is no news a field's name promises.
type class uint8

const (
	classNone class = iota
	classRequestID
	classNonce
	classClock
	classDuration
	classPID
	// classTime is a clock or a duration, as the value tells.
	classTime
)

// marker is the byte that stands for the value in a comparison form. JSON holds
// no such bytes.
func (c class) marker() byte { return byte(c) }

// maxName is the longest name that can be that of a volatile field.
const maxName = 40

// classOf tells the class of a field by its name.
func (e *encoder) classOf(key []byte) class {
	if len(key) > maxName {
		return classNone
	}
	n := newName(e.name[:0], key)
	if e.form == formArguments {
		switch {
		case n.isRequestID():
			return classRequestID
		case n.isNonce():
			return classNonce
		case n.isSenderClock():
			return classClock
		}
		return classNone
	}
	switch {
	case n.isRequestID(), n.isResultID():
		return classRequestID
	case n.isNonce():
		return classNonce
	case n.isPID():
		return classPID
	}
	clock, duration := n.isClock(), n.isDuration()
	switch {
	case clock && duration:
		return classTime
	case clock:
		return classClock
	case duration:
		return classDuration
	}
	return classNone
}

// noNewsNumber reports whether a number under a field of class c is no news.
func (e *encoder) noNewsNumber(c class, num string) bool {
	if e.form == formArguments {
		switch c {
		case classNonce:
			return true
		case classClock:
			at, ok := unixTime(num)
			return ok && e.near(at)
		case classRequestID:
			return isHexID(num) && e.dropID()
		}
		return false
	}
	switch c {
	case classRequestID:
		return !isZero(num)
	case classPID:
		return !isZero(num) && isDigits(num)
	case classNonce, classDuration, classTime:
		return true
	case classClock:
		_, ok := unixTime(num)
		return ok
	}
	return false
}

// noNewsText reports whether a text under a field of class c is no news.
func (e *encoder) noNewsText(c class, text string) bool {
	if text == "" {
		return false
	}
	if e.form == formArguments {
		switch c {
		case classNonce:
			return true
		case classClock:
			at, ok := parseTime(text)
			return ok && e.near(at)
		case classRequestID:
			return isHexID(text) && e.dropID()
		}
		return false
	}
	switch c {
	case classRequestID, classNonce:
		return true
	case classPID:
		return isDigits(text) && !isZero(text)
	case classDuration:
		return isDurationText(text)
	case classClock:
		return isClockText(text)
	case classTime:
		return isClockText(text) || isDurationText(text)
	}
	return false
}

// dropID counts a request id and reports whether it is left out.
func (e *encoder) dropID() bool {
	e.ids++
	return !e.keepIDs
}

const (
	second = int64(1_000_000_000)
	minute = 60 * second
)

// near reports whether a time lies within a minute of the span's start.
func (e *encoder) near(at int64) bool {
	d := at - e.start
	return e.start != 0 && d <= minute && d >= -minute
}
