package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/steptrail/steptrail/internal/agent"
)

func TestErrorsShowWhatTheOutcomeTableSays(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   agent.ErrorEvidence
		want agent.Sign
	}{
		{"a client error status is a rejection", agent.ErrorEvidence{Code: 404}, agent.SignRejected},
		{"so is too many requests", agent.ErrorEvidence{Code: 429}, agent.SignRejected},
		{"408 is a lost answer", agent.ErrorEvidence{Code: 408}, agent.SignLost},
		{"425 is a lost answer", agent.ErrorEvidence{Code: 425}, agent.SignLost},
		{"5xx is a lost answer", agent.ErrorEvidence{Code: 503}, agent.SignLost},
		{"a code goes before words", agent.ErrorEvidence{Code: 409, Text: "timeout"}, agent.SignRejected},
		{"an error type of three digits is a code", agent.ErrorEvidence{Type: "502", Text: "invalid"}, agent.SignLost},
		{"also behind http_", agent.ErrorEvidence{Type: "http_429"}, agent.SignRejected},
		{"three digits below 400 are none", agent.ErrorEvidence{Type: "123", Text: "not found"}, agent.SignRejected},
		{"gRPC NotFound", agent.ErrorEvidence{GRPC: 5}, agent.SignRejected},
		{"gRPC ResourceExhausted", agent.ErrorEvidence{GRPC: 8}, agent.SignRejected},
		{"gRPC Aborted", agent.ErrorEvidence{GRPC: 10}, agent.SignLost},
		{"gRPC Unavailable", agent.ErrorEvidence{GRPC: 14}, agent.SignLost},
		{"a gRPC status as the type", agent.ErrorEvidence{Type: "FAILED_PRECONDITION", Text: "account closed"}, agent.SignRejected},
		{"in Go's spelling", agent.ErrorEvidence{Type: "ResourceExhausted"}, agent.SignRejected},
		{"behind grpc_", agent.ErrorEvidence{Type: "grpc_unauthenticated"}, agent.SignRejected},
		{"a gRPC status goes before words", agent.ErrorEvidence{Type: "UNAVAILABLE", Text: "invalid state"}, agent.SignLost},
		{"in the text of Go", agent.ErrorEvidence{Type: "*status.Error", Text: "rpc error: code = OutOfRange desc = timeout 0"}, agent.SignRejected},
		{"in the text of Python", agent.ErrorEvidence{Type: "_InactiveRpcError", Text: "<_InactiveRpcError of RPC that terminated with: status = StatusCode.UNIMPLEMENTED>"}, agent.SignRejected},
		{"a word that others write too is none", agent.ErrorEvidence{Type: "unknown", Text: "invalid amount"}, agent.SignRejected},
		{"reset by peer", agent.ErrorEvidence{Type: "OSError", Text: "read: reset by peer, invalid data"}, agent.SignLost},

		{"a type that names a timeout", agent.ErrorEvidence{Type: "TimeoutError"}, agent.SignLost},
		{"a type goes before its text", agent.ErrorEvidence{Type: "ValidationError", Text: "request timed out"}, agent.SignRejected},
		{"a package before the type", agent.ErrorEvidence{Type: "httpx.ReadTimeout"}, agent.SignLost},
		{"a class name is words", agent.ErrorEvidence{Type: "OrderNotFoundError"}, agent.SignRejected},
		{"connection reset", agent.ErrorEvidence{Type: "ConnectionResetError"}, agent.SignLost},
		{"ECONNRESET", agent.ErrorEvidence{Text: "read ECONNRESET"}, agent.SignLost},
		{"connection refused", agent.ErrorEvidence{Text: "connect ECONNREFUSED 10.0.0.1:443"}, agent.SignRejected},
		{"DNS failure", agent.ErrorEvidence{Text: "getaddrinfo ENOTFOUND api.example.test"}, agent.SignRejected},
		{"a lost answer goes before a rejection", agent.ErrorEvidence{Text: "invalid state after timeout"}, agent.SignLost},
		{"took too long is lost", agent.ErrorEvidence{Text: "the call took too long"}, agent.SignLost},
		{"too long is a rejection", agent.ErrorEvidence{Text: "the note is too long"}, agent.SignRejected},
		{"cancelled while running", agent.ErrorEvidence{Type: "CancelledError"}, agent.SignLost},
		{"already cancelled is no cancel", agent.ErrorEvidence{Text: "the booking is already cancelled, so this is not allowed"}, agent.SignRejected},
		{"no customer found", agent.ErrorEvidence{Text: "no customer with this number was found"}, agent.SignRejected},
		{"not in the next sentence", agent.ErrorEvidence{Text: "it says no. A bug was found"}, agent.SignException},
		{"an underscore is a space", agent.ErrorEvidence{Type: "rate_limit"}, agent.SignRejected},
		{"a deadlock was rolled back", agent.ErrorEvidence{Text: "deadlock detected"}, agent.SignRejected},
		{"a circuit breaker is open", agent.ErrorEvidence{Text: "Circuit breaker is OPEN"}, agent.SignRejected},
		{"any other exception", agent.ErrorEvidence{Type: "RuntimeError", Text: "boom"}, agent.SignException},
		{"nothing but the failure", agent.ErrorEvidence{}, agent.SignException},
		{"part of a word is no word", agent.ErrorEvidence{Text: "dismissing the dialog"}, agent.SignException},

		{"words of the call's name do not count", agent.ErrorEvidence{Text: "cancel_order failed for the order", Tool: "cancel_order"}, agent.SignException},
		{"nor values of its arguments", agent.ErrorEvidence{Text: "cannot file 'checkout timed out'", Arguments: `{"title":"checkout timed out"}`}, agent.SignException},
		{"nor names of its arguments in quotes", agent.ErrorEvidence{Text: "parameter 'timeout' must be positive", Arguments: `{"timeout":-1}`}, agent.SignRejected},
		{"a name outside quotes counts", agent.ErrorEvidence{Text: "Request timeout", Arguments: `{"timeout":30}`}, agent.SignLost},
		{"a stack trace does not count", agent.ErrorEvidence{Text: "boom\nTraceback (most recent call last):\n  raise TimeoutError"}, agent.SignException},
		{"nor do lines that start with at", agent.ErrorEvidence{Text: "boom\n    at checkTimeout (a.js:1)\n"}, agent.SignException},

		{"an exit code of a repeatable tool", agent.ErrorEvidence{Text: "command failed with exit code 2", ExitCodes: true}, agent.SignRejected},
		{"exit status 124 was a timeout", agent.ErrorEvidence{Text: "exit status 124", ExitCodes: true}, agent.SignLost},
		{"an exit code of any other tool", agent.ErrorEvidence{Text: "command ended with exit code 2"}, agent.SignException},

		{"an interrupt is a deferral", agent.ErrorEvidence{Type: "langgraph.errors.GraphInterrupt", Text: "timeout"}, agent.SignDeferred},
		{"so is a call for approval", agent.ErrorEvidence{Type: "ApprovalRequired"}, agent.SignDeferred},
		{"a command to the parent is no error", agent.ErrorEvidence{Type: "ParentCommand"}, agent.SignOK},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, agent.JudgeError(tc.in))
		})
	}
}

func TestResultsShowWhatTheOutcomeTableSays(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   agent.ResultEvidence
		want agent.Sign
	}{
		{"a result that was not recorded says nothing", agent.ResultEvidence{}, agent.SignNone},
		{"an empty one is ok", agent.ResultEvidence{Recorded: true}, agent.SignOK},
		{"words in a good result do not count", agent.ResultEvidence{Recorded: true, Text: "Created: checkout timed out, invalid card"}, agent.SignOK},
		{"the word error alone", agent.ResultEvidence{Recorded: true, Text: "ERROR"}, agent.SignRejected},
		{"error with what it is", agent.ResultEvidence{Recorded: true, Text: "Error: no seats left"}, agent.SignRejected},
		{"error while doing", agent.ResultEvidence{Recorded: true, Text: "error while booking"}, agent.SignRejected},
		{"a text about errors is none", agent.ResultEvidence{Recorded: true, Text: "Errors found: 0"}, agent.SignOK},
		{"an error with a lost answer", agent.ResultEvidence{Recorded: true, Text: "Error: request timed out"}, agent.SignLost},
		{"an error by protocol", agent.ResultEvidence{Recorded: true, IsError: true, Text: "seats are gone"}, agent.SignRejected},
		{"an error by protocol with a lost answer", agent.ResultEvidence{Recorded: true, IsError: true, Text: "upstream did not answer"}, agent.SignLost},
		{"a JSON error", agent.ResultEvidence{Recorded: true, Text: `{"error":"card declined"}`}, agent.SignRejected},
		{"an empty JSON error is none", agent.ResultEvidence{Recorded: true, Text: `{"error":null,"id":1}`}, agent.SignOK},
		{"a JSON error type", agent.ResultEvidence{Recorded: true, Text: `{"error_type":"TimeoutError"}`}, agent.SignLost},
		{"a JSON error object with a code", agent.ResultEvidence{Recorded: true, Text: `{"error":{"code":503,"message":"busy"}}`}, agent.SignLost},
		{"status failed of an act", agent.ResultEvidence{Recorded: true, Text: `{"status":"failed","id":7}`}, agent.SignRejected},
		{"status failed of a read is what it read", agent.ResultEvidence{Recorded: true, Read: true, Text: `{"status":"failed","id":7}`}, agent.SignOK},
		{"only a receipt", agent.ResultEvidence{Recorded: true, Text: `{"status":"queued"}`}, agent.SignReceipt},
		{"the word alone", agent.ResultEvidence{Recorded: true, Text: `"Pending"`}, agent.SignReceipt},
		{"with an id the service has taken it", agent.ResultEvidence{Recorded: true, Text: `{"status":"queued","id":"t1"}`}, agent.SignOK},
		{"a framework's sentence", agent.ResultEvidence{Recorded: true, Text: "Tool 'send_mail' timed out after 30.0 seconds."}, agent.SignLost},
		{"not within a text", agent.ResultEvidence{Recorded: true, Text: "Tool 'x' timed out after 30 seconds. I filed it."}, agent.SignOK},
		{"JSON that does not end is text", agent.ResultEvidence{Recorded: true, Text: `{"error":`}, agent.SignOK},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, agent.JudgeResult(tc.in))
		})
	}
}

func TestSpansShowErrorThenResult(t *testing.T) {
	good := agent.ResultEvidence{Recorded: true, Text: "done"}
	bad := agent.ResultEvidence{Recorded: true, Text: "Error: sold out"}
	lost := agent.ErrorEvidence{Type: "TimeoutError"}
	for _, tc := range []struct {
		name string
		in   agent.SpanEvidence
		want agent.Sign
	}{
		{"an ended span is ok", agent.SpanEvidence{Ended: true}, agent.SignOK},
		{"one that has not ended shows nothing", agent.SpanEvidence{}, agent.SignNone},
		{"a status of error counts", agent.SpanEvidence{Ended: true, Failed: true, Error: lost, Result: good}, agent.SignLost},
		{"an exception event counts without it", agent.SpanEvidence{Ended: true, Exception: true, Error: lost}, agent.SignLost},
		{"but not beside a good result", agent.SpanEvidence{Ended: true, Exception: true, Error: lost, Result: good}, agent.SignOK},
		{"a result that is an error counts", agent.SpanEvidence{Ended: true, Result: bad}, agent.SignRejected},
		{"and tells more than a bare exception", agent.SpanEvidence{Ended: true, Failed: true, Result: bad}, agent.SignRejected},
		{"a deferral goes before all", agent.SpanEvidence{Ended: true, Failed: true, Deferred: true}, agent.SignDeferred},
		{"so does a refusal", agent.SpanEvidence{Ended: true, Failed: true, Refused: true, Error: lost}, agent.SignRefused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, agent.JudgeSpan(tc.in))
		})
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("TimeoutError", "no order found", "get_order", `{"a":["b",{"c":1}]}`, 0)
	f.Add("", "Traceback", "", `{"a":`, 503)
	f.Add("a.b/", "Error: exit code 99999999999", "x", `[[[[`, -1)
	f.Fuzz(func(t *testing.T, typ, text, tool, args string, code int) {
		e := agent.ErrorEvidence{Type: typ, Text: text, Tool: tool, Arguments: args, Code: code, ExitCodes: true}
		if agent.JudgeError(e) == agent.SignNone {
			t.Fatal("an error that is there shows something")
		}
		r := agent.ResultEvidence{Recorded: true, Text: text, Tool: tool, Arguments: args}
		if agent.JudgeResult(r) == agent.SignNone {
			t.Fatal("a recorded result shows something")
		}
		if strings.HasPrefix(strings.TrimSpace(strings.ToLower(text)), "error:") && agent.JudgeResult(r) == agent.SignOK {
			t.Fatal("an error is never ok")
		}
	})
}

func TestAFrameworksSentenceThatNothingRan(t *testing.T) {
	onSpan := []string{
		"Unknown tool: refund", "Error: Unknown tool: refund",
		"Error: Validation failed for input parameters: 1 validation error for X\nto\n  Field required [type=missing]",
		"1 validation error:\n```json\n[]\n```", "12 validation errors:\n```json\n[]\n```\n\nFix the errors and try again.",
		`{"error":"This tool call is rejected."}`,
	}
	inMessage := []string{
		"Unknown tool name: 'refund_order'. Available tools: 'get_order', 'search_kb'", "Unknown tool name: 'x'. No tools available.",
		"Unknown tool name: 'x'. Available tools: 'y'\n\nFix the errors and try again.",
		"Tool not executed - a final result was already processed.", "The tool call was denied.",
		"Tool execution was not approved.", "Function call was rejected by the user",
		"Tool call limit reached. Tool call search_kb not executed.",
		"Tool call limit reached. Tool call search_kb not executed. Don't try to execute it again.",
		"User rejected the tool call for `refund` with id call_1", "User rejected the tool call for `refund` with reason: it is\ntoo much",
		"Error: refund is not a valid tool, try one of [get_order, search_kb].", "Error: Argument parsing failed.",
		"Model tried to call unavailable tool 'x'. Available tools: y, z.", "AI_NoSuchToolError: Model tried to call unavailable tool 'x'.",
		"Invalid input for tool refund: Type validation failed: Value: {\"memo\":\"" + strings.Repeat("long ", 1000) + "\"}.\nError message: []",
		"AI_InvalidToolInputError: Invalid input for tool refund: JSON parsing failed: Text: {.\nError message: end of input",
	}
	for _, text := range append(onSpan, inMessage...) {
		assert.Equal(t, agent.SignRefused, agent.JudgeResult(agent.ResultEvidence{Recorded: true, InMessage: true, Text: text}), text)
	}
	for _, text := range onSpan {
		assert.Equal(t, agent.SignRefused, agent.JudgeResult(agent.ResultEvidence{Recorded: true, Text: text}), text)
	}
	for _, text := range inMessage {
		got := agent.JudgeResult(agent.ResultEvidence{Recorded: true, Text: text})
		assert.NotEqual(t, agent.SignRefused, got, "the tool ran, and this is what it said: %s", text)
	}
	for text, want := range map[string]agent.Sign{
		"unknown tool": agent.SignOK, "this is not a valid tool, try one of the others": agent.SignOK,
		"Timed out after 5 seconds.": agent.SignLost, "Timed out after lunch.": agent.SignOK, "Tool 'x' timed out after  seconds": agent.SignOK,
	} {
		assert.Equal(t, want, agent.JudgeResult(agent.ResultEvidence{Recorded: true, InMessage: true, Text: text}), text)
	}
	contentOff := agent.SpanEvidence{Ended: true, Failed: true, Error: agent.ErrorEvidence{Type: "ValueError", Text: "Validation failed for input parameters: 1 error"}}
	assert.Equal(t, agent.SignRefused, agent.JudgeSpan(contentOff), "by the status")
}

// A tool repeats what outsiders write: a result that only begins, ends or goes on
// as a framework's sentence says nothing of the call.
func TestAResultThatImitatesAFrameworkIsAResult(t *testing.T) {
	for _, text := range []string{
		"The customer wrote: Unknown tool name: hammer", "Refunded; tool execution was not approved before.",
		"Tool execution was not approved of, wrote the customer. Paid p2.", "The tool call was denied. Paid p2.",
		"Unknown tool: the customer wrote this. Paid p2.", "Unknown tool name: 'x'. Available tools: paid p2",
		"Unknown tool name: 'x'. Available tools: 'y'; paid p2", "Tool not executed - said the memo. Paid p2.",
		"Function call was rejected by the user, says the memo; paid", "Tool call limit reached. Paid p2 all the same.",
		"Invalid input for tool memo of the customer. Paid p2", "Invalid input for tool memo: paid p2",
		"This tool call requires confirmation, wrote the customer. Paid p2", "This tool call is rejected. Paid p2.",
		"Argument parsing failed in the memo; paid p2", "Validation failed for input parameters: so wrote the customer; paid p2",
		"2 validation errors: so wrote the customer; paid p2", "memo is not a valid tool, try one of [paid p2] or [p3]",
		"Model tried to call unavailable tool 'memo'. Paid p2.", "Timed out after 5 seconds. Paid p2.",
	} {
		for _, inMessage := range []bool{false, true} {
			assert.Equal(t, agent.SignOK, agent.JudgeResult(agent.ResultEvidence{Recorded: true, InMessage: inMessage, Text: text}), text)
		}
	}
}

func TestAnExceptionThatImitatesAValidationIsAnException(t *testing.T) {
	validation := "2 validation errors for pay\nn\n  Field required [type=missing, input_value={}, input_type=dict]\nm\n  Field required [type=missing]"
	for text, want := range map[string]agent.Sign{
		validation: agent.SignRefused, "1 validation error for pay": agent.SignRefused,
		"1 validation error for pay\nso wrote the customer; request timed out":   agent.SignLost,
		"1 validation error for pay\n  so wrote the customer; request timed out": agent.SignLost,
		"1 validation error for payment\nn\n  Field required [type=missing]":     agent.SignRejected,
	} {
		got := agent.JudgeSpan(agent.SpanEvidence{Ended: true, Failed: true, Error: agent.ErrorEvidence{Type: "Exception", Text: text, Tool: "pay"}})
		assert.Equal(t, want, got, text)
	}
}
