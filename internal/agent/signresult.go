package agent

import (
	"bytes"
	"encoding/json"
	"strings"
)

// ResultEvidence is a result as a span or a tool response shows it.
type ResultEvidence struct {
	Recorded bool
	Text     string // JSON or plain text
	IsError  bool   // the protocol says that it is an error: MCP isError, a tool message with status error
	// Read: the tool is known to be a read, so that a status inside its result
	// is what it read about, not how it ended.
	Read bool
	// InMessage: it is the answer that a message shows, which may be a framework's
	// in the tool's place; else the span's own result.
	InMessage bool
	// As in ErrorEvidence.
	Tool, Arguments string
	ExitCodes       bool
}

// maxResult bounds the JSON result that is looked into for an error.
const maxResult = 256 << 10

// JudgeResult tells what a result shows: rejected or lost where the result is
// itself an error, receipt where it only says that the call was taken, else ok;
// none where it was not recorded (conventions, "Outcome"). Words count only in
// errors: never inside a good result.
func JudgeResult(r ResultEvidence) Sign {
	if !r.Recorded {
		return SignNone
	}
	text := strings.TrimSpace(r.Text)
	if s := frameworkSign(text, r.InMessage); s != SignNone {
		return s
	}
	if r.IsError || startsAsError(text) {
		return r.judge("", text, 0)
	}
	switch {
	case strings.HasPrefix(text, "{") && len(text) <= maxResult && (strings.Contains(text, "rror") || strings.Contains(text, "status")):
		return r.judgeObject(text)
	case isReceipt(strings.Trim(text, `"`)):
		return SignReceipt
	}
	return SignOK
}

// judge tells an error result with a sign of a lost answer from one without.
func (r ResultEvidence) judge(typ, text string, code int) Sign {
	if s := frameworkSign(text, r.InMessage); s != SignNone {
		return s
	}
	switch s := JudgeError(ErrorEvidence{Type: typ, Text: text, Code: code, Tool: r.Tool, Arguments: r.Arguments, ExitCodes: r.ExitCodes}); s {
	case SignLost, SignDeferred:
		return s
	default:
		return SignRejected
	}
}

func (r ResultEvidence) judgeObject(text string) Sign {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &o) != nil {
		return SignOK
	}
	if string(o["isError"]) == "true" {
		return r.judge("", text, 0)
	}
	var errs []string
	for _, k := range [...]string{"error_message", "error"} {
		if v, ok := o[k]; ok && !isEmptyJSON(v) {
			errs = append(errs, textOf(v))
		}
	}
	typ := ""
	if v, ok := o["error_type"]; ok && !isEmptyJSON(v) {
		typ = textOf(v)
		errs = append(errs, textOf(o["error_details"]))
	}
	if len(errs) > 0 {
		t, message, code := errorObject(o["error"])
		if typ == "" {
			typ = t
		}
		if message != "" {
			errs = append(errs, message)
		}
		return r.judge(typ, strings.Join(errs, "\n"), code)
	}
	status := ""
	if v, ok := o["status"]; ok && json.Unmarshal(v, &status) == nil {
		status = strings.ToLower(status)
		switch {
		case !r.Read && (status == "error" || status == "failed"):
			return r.judge("", text, 0)
		case len(o) == 1 && isReceipt(status):
			return SignReceipt
		}
	}
	return SignOK
}

// errorObject reads type, message and HTTP status of an error that is an object.
func errorObject(raw json.RawMessage) (typ, message string, code int) {
	var o struct {
		Type    string          `json:"type"`
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"`
		Status  json.RawMessage `json:"status"`
	}
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &o) != nil {
		return "", "", 0
	}
	for _, v := range [...]json.RawMessage{o.Code, o.Status} {
		if n := codeOfType(strings.Trim(string(v), `"`)); n >= 400 && n < 600 && code == 0 {
			code = n
		}
	}
	return o.Type, o.Message, code
}

func textOf(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func isEmptyJSON(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "null", `""`, "false", "0", "{}", "[]":
		return true
	}
	return false
}

func isReceipt(word string) bool {
	switch strings.ToLower(word) {
	case "queued", "dispatched", "pending":
		return true
	}
	return false
}

// startsAsError: the word Error, alone or before what says of what.
func startsAsError(text string) bool {
	const word = "error"
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return false
	}
	rest := text[len(word):]
	if rest == "" {
		return true
	}
	for _, p := range [...]string{":", " -", " in ", " while ", " calling ", " executing ", "\n", "\r\n"} {
		if strings.HasPrefix(strings.ToLower(rest), p) {
			return true
		}
	}
	return false
}
