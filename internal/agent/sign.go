package agent

import "strings"

// ErrorEvidence is an error as one span, exception or answer shows it.
type ErrorEvidence struct {
	Type string // error.type, else the exception's type
	Text string // status message, else the exception's message
	Code int    // HTTP status; 0 where none is known
	GRPC int    // gRPC status; 0 where none is known
	// Tool and Arguments are the call's; words that only repeat them do not
	// count. Arguments is the JSON as sent and may be empty.
	Tool, Arguments string
	// ExitCodes: the tool is one that may be run again (repeatable), so that an
	// exit code in the text is a verdict.
	ExitCodes bool
}

// JudgeError tells what an error that is there shows of the outcome: rejected,
// lost, exception, or, for control flow dressed as an exception, deferred or ok.
// A status code goes before words and the error's type before its text; within
// each, a sign of a lost answer goes before the words of a rejection
// (conventions, "Outcome"). It is pure; hostile text costs time linear in its
// length.
func JudgeError(e ErrorEvidence) Sign {
	typ := lastSegment(e.Type)
	switch typ {
	case "GraphInterrupt", "NodeInterrupt", "Interrupt", "GraphBubbleUp", "ApprovalRequired", "CallDeferred", "ToolApprovalRequired", "WaitingForEvent":
		return SignDeferred
	case "ParentCommand", "Command":
		return SignOK
	}
	code := e.Code
	if code == 0 {
		code = codeOfType(e.Type)
	}
	if code >= 400 {
		return codeSign(code)
	}
	grpc := e.GRPC
	if grpc == 0 {
		grpc = grpcNamed(e.Type, e.Text)
	}
	if grpc != 0 {
		return grpcSign(grpc)
	}
	for _, text := range [...]string{spaced(typ), plain(withoutCall(withoutTrace(e.Text), e.Tool, e.Arguments))} {
		own := ownWords(e.Tool)
		if s := wordSign(text, own, e.ExitCodes); s != SignNone {
			return s
		}
	}
	return SignException
}

// codeSign is what an HTTP status from 400 on shows.
func codeSign(code int) Sign {
	switch {
	case code == 408 || code == 425:
		return SignLost
	case code >= 400 && code < 500:
		return SignRejected
	case code >= 500 && code < 600:
		return SignLost
	}
	return SignException
}

// codeOfType reads an error type of three digits, alone or after http_; 0 if it
// is none.
func codeOfType(t string) int {
	t = strings.TrimPrefix(strings.ToLower(t), "http_")
	if len(t) != 3 {
		return 0
	}
	n := 0
	for i := range len(t) {
		if t[i] < '0' || t[i] > '9' {
			return 0
		}
		n = 10*n + int(t[i]-'0')
	}
	return n
}

// SpanEvidence is all that one span shows of how its call ended.
type SpanEvidence struct {
	Ended     bool // it has an end time
	Failed    bool // its status is ERROR
	Exception bool // it has an exception event
	Error     ErrorEvidence
	Result    ResultEvidence
	Deferred  bool // its dialect says that it waits for approval or work outside
	Refused   bool // its dialect says that it was turned away before anything ran
}

// JudgeSpan gives the sign of a span: deferral and refusal as its dialect marks
// them, an error of the span itself, an error that its result is, else ok. An
// exception event counts whatever the status says, unless the span did not fail
// and has a result that is no error. Gate, stated outcome and kind are not
// weighed here; NewRun does.
func JudgeSpan(e SpanEvidence) Sign {
	switch {
	case e.Deferred:
		return SignDeferred
	case e.Refused:
		return SignRefused
	}
	result := JudgeResult(e.Result)
	if result == SignDeferred {
		return SignDeferred
	}
	if result == SignRefused || e.Failed && frameworkSign(e.Error.Text, false) == SignRefused || (e.Failed || e.Exception) && isValidation(e.Error) {
		return SignRefused
	}
	if e.Failed || (e.Exception && result != SignOK && result != SignReceipt) {
		sign := JudgeError(e.Error)
		// A result that is itself an error tells more than a bare exception.
		if sign == SignException && (result == SignRejected || result == SignLost) {
			return result
		}
		return sign
	}
	switch {
	case result != SignNone:
		return result
	case e.Ended:
		return SignOK
	}
	return SignNone
}

// lastSegment is the name of an error class without its package.
func lastSegment(t string) string {
	if i := strings.LastIndexAny(t, ".:/"); i >= 0 && i < len(t)-1 {
		return t[i+1:]
	}
	return t
}
