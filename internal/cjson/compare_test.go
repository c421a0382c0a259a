package cjson

import (
	"testing"
	"time"
)

// start is the span's start in these tests: 2025-03-02T08:00:00Z.
var start = time.Date(2025, 3, 2, 8, 0, 0, 0, time.UTC).UnixNano()

func argumentsForm(t *testing.T, text string) string {
	t.Helper()
	got, err := AppendArguments(nil, text, start)
	if err != nil {
		got = AppendArgumentsText(nil, text)
	}
	return string(got)
}

func resultForm(t *testing.T, text string) string {
	t.Helper()
	got, err := AppendResult(nil, text)
	if err != nil {
		got = AppendResultText(nil, text)
	}
	return string(got)
}

func TestArgumentsThatSayNothingNewAreOneCall(t *testing.T) {
	for _, test := range []struct{ name, a, b string }{
		{
			"key order, white space and escapes", `{"city":"Zürich","radius_km":5,"kinds":["museum"]}`,
			"{ \"kinds\":[\"museum\"],\n \"city\":\"Z\\u00FCrich\",\"radius_km\":5}",
		},
		{"number spelling", `{"channel":1,"gain":2.50}`, `{"gain":25e-1,"channel":1.0}`},
		{
			"a request id that is a UUID", `{"sku":"BR-2209","request_id":"08dde47f-7cf5-5208-96b1-4da4ce82c7e6"}`,
			`{"sku":"BR-2209","request_id":"bdce5787-c5ca-5979-a733-696f1739c52e"}`,
		},
		{"a request id of 16 hex digits", `{"what":"a","request_id":"ecffed39d9b0c8ee"}`, `{"what":"a","request_id":"c471d8f31501ad94"}`},
		{
			"other names of request ids", `{"q":1,"x-request-id":"ecffed39d9b0c8ee","requestId":"ecffed39d9b0c8ee","correlation_id":"ecffed39d9b0c8ee","trace_id":"ecffed39d9b0c8eeecffed39d9b0c8ee"}`,
			`{"q":1,"x-request-id":"ecffed39d9b0c8e1","requestId":"ecffed39d9b0c8e2","correlation_id":"ecffed39d9b0c8e3","trace_id":"ecffed39d9b0c8eeecffed39d9b0c8e4"}`,
		},
		{"a request id deep inside, beside arguments elsewhere", `{"q":1,"meta":{"request_id":"ecffed39d9b0c8ee"}}`, `{"q":1,"meta":{"request_id":"ccffed39d9b0c8ee"}}`},
		{"a request id beside a null", `{"q":null,"request_id":"ecffed39d9b0c8ee"}`, `{"q":null,"request_id":"ccffed39d9b0c8ee"}`},
		{"a request id in arguments that are a string", `"{\"q\":1,\"request_id\":\"ecffed39d9b0c8ee\"}"`, `{"q":1,"request_id":"ccffed39d9b0c8ee"}`},
		{"nonces of any form", `{"q":1,"nonce":0,"client_nonce":"a"}`, `{"q":1,"nonce":1,"client_nonce":"b"}`},
		{"the sender's clock near the start", `{"q":1,"timestamp":"2025-03-02T08:00:11Z"}`, `{"q":1,"timestamp":"2025-03-02T07:59:02Z"}`},
		{"the sender's clock with a zone", `{"q":1,"now":"2025-03-02T09:00:01+01:00"}`, `{"q":1,"now":"2025-03-02T08:00:04.25Z"}`},
		{"the sender's clock as a Unix time", `{"q":1,"sent_at":1740902400}`, `{"q":1,"sent_at":1740902431.5}`},
		{"the sender's clock in milliseconds and as text", `{"q":1,"requestedAt":1740902400123}`, `{"q":1,"requestedAt":"1740902401123"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a, b := argumentsForm(t, test.a), argumentsForm(t, test.b); a != b {
				t.Errorf("%q and %q differ", a, b)
			}
		})
	}
}

func TestArgumentsThatDifferAreTwoCalls(t *testing.T) {
	for _, test := range []struct{ name, a, b string }{
		{"a request id that is no UUID and no hex", `{"what":"a","request_id":"REQ-100"}`, `{"what":"a","request_id":"REQ-101"}`},
		{"a request id that is short", `{"what":"a","request_id":"ecffed39"}`, `{"what":"a","request_id":"ecffed38"}`},
		{"a request id that is the only argument", `{"request_id":"08dde47f-7cf5-5208-96b1-4da4ce82c7e6"}`, `{"request_id":"bdce5787-c5ca-5979-a733-696f1739c52e"}`},
		{"a request id beside a nonce only", `{"request_id":"ecffed39d9b0c8ee","nonce":1}`, `{"request_id":"ccffed39d9b0c8ee","nonce":2}`},
		{"a request id that one has not", `{"q":1,"request_id":"ecffed39d9b0c8ee"}`, `{"q":1}`},
		{"the id of a thing", `{"q":1,"order_id":"08dde47f-7cf5-5208-96b1-4da4ce82c7e6"}`, `{"q":1,"order_id":"bdce5787-c5ca-5979-a733-696f1739c52e"}`},
		{"a business request", `{"q":1,"refund_request_id":"ecffed39d9b0c8ee"}`, `{"q":1,"refund_request_id":"ccffed39d9b0c8ee"}`},
		{"an idempotency key", `{"q":1,"idempotency_key":"ecffed39d9b0c8ee"}`, `{"q":1,"idempotency_key":"ccffed39d9b0c8ee"}`},
		{"a clock of another name", `{"q":1,"starts_at":"2025-03-02T08:00:11Z"}`, `{"q":1,"starts_at":"2025-03-02T08:00:12Z"}`},
		{"a created_at", `{"q":1,"created_at":"2025-03-02T08:00:11Z"}`, `{"q":1,"created_at":"2025-03-02T08:00:12Z"}`},
		{"a timestamp two minutes off", `{"q":1,"timestamp":"2025-03-02T08:02:00Z"}`, `{"q":1,"timestamp":"2025-03-02T08:02:01Z"}`},
		{"a timestamp that is no time", `{"q":1,"timestamp":"tomorrow"}`, `{"q":1,"timestamp":"today"}`},
		{"a duration", `{"q":1,"duration_ms":30}`, `{"q":1,"duration_ms":31}`},
		{"a pid", `{"cmd":"kill","pid":30}`, `{"cmd":"kill","pid":31}`},
		{"a cursor", `{"cursor":"c7","limit":2}`, `{"cursor":"c26","limit":2}`},
		{"times in text", `{"q":"log since 08:00:11"}`, `{"q":"log since 08:00:12"}`},
		{"texts that are no JSON", `since 08:00:11`, `since 08:00:12`},
		{"near targets", `{"acct":"A-100"}`, `{"acct":"A-1000"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a, b := argumentsForm(t, test.a), argumentsForm(t, test.b); a == b {
				t.Errorf("both are %q", a)
			}
		})
	}
	t.Run("any time where the span's start is unknown", func(t *testing.T) {
		a, _ := AppendArguments(nil, `{"timestamp":"1970-01-01T00:00:11Z"}`, 0)
		b, _ := AppendArguments(nil, `{"timestamp":"1970-01-01T00:00:12Z"}`, 0)
		if string(a) == string(b) {
			t.Errorf("both are %q", a)
		}
	})
}

func TestResultsThatAreNoNews(t *testing.T) {
	for _, test := range []struct{ name, a, b string }{
		{
			"pid, clock and duration by name",
			`{"stdout":"activating","exit_code":3,"pid":40112,"started_at":"2025-03-02T08:00:11Z","duration_ms":31}`,
			`{"stdout":"activating","exit_code":3,"pid":40140,"started_at":"2025-03-02T08:04:11Z","duration_ms":35}`,
		},
		{"a Unix time", `{"state":"idle","timestamp":1741000000}`, `{"state":"idle","timestamp":1741000013}`},
		{"a request id of any form", `{"seen":0,"request_id":"7f0c2-0000"}`, `{"seen":0,"request_id":"7f1c2-0001"}`},
		{"a nonce", `{"seen":0,"nonce":"n0a0"}`, `{"seen":0,"nonce":"n3a9"}`},
		{
			"names in camel case", `{"a":1,"requestId":"x1","updatedAt":"2025-03-02 08:00:11","elapsedMs":3,"parentPid":4}`,
			`{"a":1,"requestId":"x2","updatedAt":"2025-03-02 08:00:12","elapsedMs":4,"parentPid":5}`,
		},
		{
			"names with units", `{"created_at_ms":1741000000123,"response_time_ms":12.5,"uptime_seconds":10}`,
			`{"created_at_ms":1741000000124,"response_time_ms":13.5,"uptime_seconds":20}`,
		},
		{"a duration as text", `{"took":"31ms","elapsed":"00:00:03"}`, `{"took":"1.2 s","elapsed":"00:00:04"}`},
		{"a duration rounded to nothing", `{"hits":[],"took":0}`, `{"hits":[],"took":1}`},
		{"a list of clocks", `{"a":1,"checked_at":["2025-03-02T08:00:11Z"]}`, `{"a":1,"checked_at":["2025-03-02T08:00:12Z"]}`},
		{"the date header", `{"date":"Sun, 02 Mar 2025 08:00:11 GMT"}`, `{"date":"Sun, 02 Mar 2025 08:00:12 GMT"}`},
		{"a date with a time in text", "2025-03-02T08:00:11.123Z worker idle", "2025-03-02 08:00:12,500 worker idle"},
		{"a date with a time and a zone", "at 2025-03-02T08:00:11+01:00.", "at 2025-03-02T08:05:11+01:00."},
		{"a time in text", "12:01:03 ready\n12:02:03 idle", "13:01:03 ready\n13:02:03 idle"},
		{"pids in text", "started (pid 4000)", "started (pid 4007)"},
		{"pids in text, other spelling", "PID: 4000 up", "PID: 4007 up"},
		{"took N ms", "No rows. Query took 31 ms.", "No rows. Query took 8 ms."},
		{"took in other units", "took 1m31s", "took 2.5s"},
		{"a measured time", "3 passed in 0.12s", "3 passed in 0.15s"},
		{"request and hex", "error: backend busy (request 7f3a9c11)", "error: backend busy (request 81bb02fe)"},
		{"request id and a UUID", "request id: 08dde47f-7cf5-5208-96b1-4da4ce82c7e6 failed", "request id: bdce5787-c5ca-5979-a733-696f1739c52e failed"},
		{"a UUID whose first groups hold no digit", "request abcdefab-cdef-4208-96b1-4da4ce82c7e6 failed", "request bdce5787-c5ca-5979-a733-696f1739c52e failed"},
		{"text after an escape", `{"log":"idle\n08:00:11 pid 12"}`, `{"log":"idle\n08:00:12 pid 13"}`},
		{"text inside JSON inside a string", `"{\"log\":\"took 3 ms\"}"`, `{"log":"took 4 ms"}`},
		{"plain text and the JSON string of it", `ready`, `"ready"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a, b := resultForm(t, test.a), resultForm(t, test.b); a != b {
				t.Errorf("%q and %q differ", a, b)
			}
		})
	}
}

func TestResultsThatAreNews(t *testing.T) {
	for _, test := range []struct{ name, a, b string }{
		{"a counter", `{"seen":1}`, `{"seen":2}`},
		{"a status", `{"state":"pending"}`, `{"state":"running"}`},
		{"a cursor", `{"rows":[],"next":"c7"}`, `{"rows":[],"next":"c26"}`},
		{"an error type", `{"error":"timeout"}`, `{"error":"refused"}`},
		{"the id of a thing that the call made", `{"refund_id":"08dde47f-7cf5-5208-96b1-4da4ce82c7e6"}`, `{"refund_id":"bdce5787-c5ca-5979-a733-696f1739c52e"}`},
		{"a clock that was not there", `{"state":"idle","delivered_at":null}`, `{"state":"idle","delivered_at":"2025-03-02T08:00:11Z"}`},
		{"a clock that is absent", `{"state":"idle"}`, `{"state":"idle","delivered_at":"2025-03-02T08:00:11Z"}`},
		{"a clock that is empty", `{"delivered_at":""}`, `{"delivered_at":"2025-03-02T08:00:11Z"}`},
		{"a clock that is 0", `{"delivered_at":0}`, `{"delivered_at":1741000000}`},
		{"a request id that is empty", `{"request_id":""}`, `{"request_id":"7f0c2"}`},
		{"a pid that is 0", `{"pid":0}`, `{"pid":12}`},
		{"a clock that says a word", `{"checked_at":"never"}`, `{"checked_at":"always"}`},
		{"a date without a time", `{"delivery_date":"2025-03-04"}`, `{"delivery_date":"2025-03-05"}`},
		{"a date without a time in text", "due 2025-03-04", "due 2025-03-05"},
		{"hours and minutes in text", "opens 09:00", "opens 10:00"},
		{"a time that is what was asked for", `{"next_slot":"2025-03-04T10:00:00Z"}`, `{"next_slot":"2025-03-04T11:00:00Z"}`},
		{"a time of departure", `{"departure_time":"10:00:00"}`, `{"departure_time":"11:00:00"}`},
		{"a plain number after request", "request 5 failed", "request 6 failed"},
		{"progress in text", "42 of 100 done", "43 of 100 done"},
		{"a port", "listening on 127.0.0.1:8080", "listening on 127.0.0.1:8081"},
		{"an amount of work", "took 3 items", "took 4 items"},
		{"a term", "arrives in 3 days", "arrives in 4 days"},
		{"a word that ends as a keyword", "rapid 12", "rapid 13"},
		{"a MAC address", "00:1A:2B:10:20:30", "00:1A:2B:10:20:31"},
		{"text and absence", "idle at 08:00:11", "idle"},
		{"an address in memory", "ModLoad 00000000 mod00.dll", "ModLoad 00001000 mod01.dll"},
		{"an age", `{"name":"x","age":31}`, `{"name":"x","age":32}`},
		{"a place in a stream", `{"offset_ms":31}`, `{"offset_ms":32}`},
		{"a mark that someone wrote", `{"pid":"\u0005"}`, `{"pid":4000}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a, b := resultForm(t, test.a), resultForm(t, test.b); a == b {
				t.Errorf("both are %q", a)
			}
		})
	}
}
