package agent

import "slices"

// unreachedWords are the words of an error that says nothing about the request
// itself: nothing was judged, and the same request may do later.
var unreachedWords = [...]string{
	"rate limit", "too many requests", "quota", "connection", "econnrefused", "circuit open", "circuit breaker open", "circuit breaker is open",
	"not sent", "enotfound", "getaddrinfo", "name or service not known", "name resolution", "could not resolve", "eai again", "dns",
	"tls handshake", "ssl handshake", "certificate verify failed",
}

// inputWords are the words of a rejection after which corrected input is no
// drift: those of the outcome table down to `syntax error`, and input that was
// too long.
var inputWords = func() []string {
	end := slices.Index(rejectWords[:], "syntax error")
	return append(slices.Clone(rejectWords[:end+1]), "too long", "too large", "context length")
}()

// Unreached reports whether an error says that the service did not judge the
// request: 429 and its words, connection, an open circuit, not sent, DNS, TLS.
func Unreached(e ErrorEvidence) bool {
	code := errorCode(e)
	if code == 429 {
		return true
	}
	if code >= 400 {
		return false
	}
	return hasAnyWord(e, unreachedWords[:])
}

// Unauthorised reports whether an error says that the caller was not let in:
// HTTP 401 or 403.
func Unauthorised(e ErrorEvidence) bool {
	code := errorCode(e)
	return code == 401 || code == 403
}

// InputRejected reports whether an error says that the input was rejected, so
// that corrected input is no drift: HTTP 400, 404, 409, 422, or without a code
// the words for it.
func InputRejected(e ErrorEvidence) bool {
	switch code := errorCode(e); {
	case code == 400 || code == 404 || code == 409 || code == 422:
		return true
	case code >= 400:
		return false
	}
	return hasAnyWord(e, inputWords) || noneFound(plain(withoutCall(withoutTrace(e.Text), e.Tool, e.Arguments)))
}

// errorCode is the status code that an error shows; 0 if none.
func errorCode(e ErrorEvidence) int {
	if e.Code != 0 {
		return e.Code
	}
	return codeOfType(e.Type)
}

func hasAnyWord(e ErrorEvidence, words []string) bool {
	own := ownWords(e.Tool)
	for _, text := range [...]string{spaced(lastSegment(e.Type)), plain(withoutCall(withoutTrace(e.Text), e.Tool, e.Arguments))} {
		for _, w := range words {
			if text != "" && hasWord(text, w, own) {
				return true
			}
		}
	}
	return false
}

// Evidence is the error that an attempt shows.
func (a *Attempt) Evidence() ErrorEvidence {
	return ErrorEvidence{Type: a.ErrorType, Text: a.ErrorText, Code: int(a.StatusCode), Tool: a.Tool}
}
