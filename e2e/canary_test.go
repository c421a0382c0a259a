package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// canaries is how many distinct secrets are sent.
const canaries = 1000

const canaryPolicy = `version: 1
redaction:
  mode: pseudonym
  key: ${env:STEPTRAIL_REDACTION_KEY}
  detectors: [email, credit_card, iban, phone, us_ssn, ip, jwt, bearer, api_key, private_key, url_credentials]
  keys: [password]
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
tools: [{match: "get_*", class: read}]
detection: {quiet: 2s, in_flight: 2s}
`

// canary is a secret, and the text that carries it.
type canary struct{ secret, text, place string }

// randomText gives letters and digits that no word has.
func randomText(r *rand.Rand, n int) string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789"
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[r.IntN(len(letters))]
	}
	return string(out)
}

func digits(r *rand.Rand, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte('0' + r.IntN(10))
	}
	return string(out)
}

// luhn appends the check digit of a card's number.
func luhn(number string) string {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return number + string(rune('0'+(10-sum%10)%10))
}

// iban gives a German account with its check digits.
func iban(r *rand.Rand) string {
	account := digits(r, 18)
	n, _ := new(big.Int).SetString(account+"131400", 10) // D is 13, E is 14
	return fmt.Sprintf("DE%02d%s", 98-new(big.Int).Mod(n, big.NewInt(97)).Int64(), account)
}

// newCanary makes the i-th secret. Vendors' prefixes are put together here so
// that no scanner takes them for real ones.
func newCanary(r *rand.Rand, i int) canary {
	c := canary{}
	switch i % 12 {
	case 0:
		c.secret = strings.ToLower(randomText(r, 8)) + "@" + strings.ToLower(randomText(r, 6)) + ".example.org"
		c.text = "write to " + c.secret + " please"
	case 1:
		c.secret = luhn("4" + digits(r, 14))
		c.text = "card " + c.secret + " was declined"
	case 2:
		c.secret = iban(r)
		c.text = "pay to " + c.secret + " by Friday"
	case 3:
		c.secret = "+49151" + digits(r, 8)
		c.text = "call " + c.secret + " back"
	case 4:
		c.secret = fmt.Sprintf("%03d-%02d-%04d", 101+r.IntN(500), 1+r.IntN(98), 1+r.IntN(9998))
		c.text = "SSN " + c.secret + " on file"
	case 5:
		c.secret = fmt.Sprintf("%d.%d.%d.%d", 11+r.IntN(100), 1+r.IntN(250), 1+r.IntN(250), 1+r.IntN(250))
		c.text = "seen from " + c.secret + " today"
	case 6:
		part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		c.secret = part(`{"alg":"HS256"}`) + "." + part(`{"sub":"`+randomText(r, 12)+`"}`) + "." + randomText(r, 43)
		c.text = "token " + c.secret + " expired"
	case 7:
		c.secret = randomText(r, 40)
		c.text = "Authorization: " + "Bearer " + c.secret
	case 8:
		c.secret = "gh" + "p_" + randomText(r, 36)
		c.text = "git push with " + c.secret + " failed"
	case 9:
		c.secret = "AK" + "IA" + strings.ToUpper(randomText(r, 16))
		c.text = "key id " + c.secret + " of the bucket"
	case 10:
		c.secret = randomText(r, 64)
		c.text = "-----BEGIN " + "PRIVATE KEY-----\n" + randomText(r, 64) + "\n" + c.secret + "\n-----END " + "PRIVATE KEY-----"
	default:
		c.secret = "pw" + randomText(r, 14)
		c.text = "postgres://app:" + c.secret + "@db.internal:5432/orders"
	}
	return c
}

// spanPlaces are where text can sit on a span and what is around it.
var spanPlaces = []struct {
	name string
	put  func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span, text string)
}{
	{"span name", func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) { s.SetName(text) }},
	{"status message", func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		s.Status().SetCode(ptrace.StatusCodeError)
		s.Status().SetMessage(text)
	}},
	{"attribute", putText("note")},
	{"attribute in a map", func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		s.Attributes().PutEmptyMap("deep").PutEmptySlice("list").AppendEmpty().SetEmptyMap().PutStr("x", text)
	}},
	{"attribute name", func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		s.Attributes().PutStr(text, "x")
	}},
	{"bytes", func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		s.Attributes().PutEmptyBytes("raw").FromRaw([]byte(text))
	}},
	{"arguments", putJSON("gen_ai.tool.call.arguments", `{"to":%s,"n":1}`)},
	{"name in arguments", putJSON("gen_ai.tool.call.arguments", `{%s:1}`)},
	{"JSON in arguments", putJSON("gen_ai.tool.call.arguments", `{"body":"{\"to\":\"x\",\"say\":\"y\"}","list":[[%s]]}`)},
	{"result", putText("gen_ai.tool.call.result")},
	{"input", putJSON("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":%s}]}]`)},
	{"output", putJSON("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":%s}]}]`)},
	{"system instructions", putJSON("gen_ai.system_instructions", `[{"type":"text","content":%s}]`)},
	{"user", putText("user.id")},
	{"session", putText("session.id")},
	{"target", putText("agent.target")},
	{"key", putText("agent.idempotency.key")},
	{"reason", putText("agent.human.reason")},
	{"escalation", putText("agent.escalation.reason")},
	{"error type", putText("error.type")},
	{"tool", putText("gen_ai.tool.name")},
	{"model", putText("gen_ai.request.model")},
	{"agent", putText("gen_ai.agent.name")},
	{"task type", putText("agent.task.type")},
	{"URL", putText("url.full")},
	{"event name", func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		s.Events().AppendEmpty().SetName(text)
	}},
	{"event attribute", func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		s.Events().AppendEmpty().Attributes().PutStr("x", text)
	}},
	{"exception", func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		ev := s.Events().AppendEmpty()
		ev.SetName("exception")
		ev.Attributes().PutStr("exception.message", text)
		ev.Attributes().PutStr("exception.stacktrace", "Traceback\n  "+text)
	}},
	{"link attribute", func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		l := s.Links().AppendEmpty()
		l.SetTraceID(pcommon.TraceID{9})
		l.SetSpanID(pcommon.SpanID{9})
		l.Attributes().PutStr("x", text)
	}},
	{"trace state", func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		s.TraceState().FromRaw("v=" + text)
	}},
	{"resource attribute", func(rs ptrace.ResourceSpans, _ ptrace.ScopeSpans, _ ptrace.Span, text string) {
		rs.Resource().Attributes().PutStr("host.owner", text)
	}},
	{"service name", func(rs ptrace.ResourceSpans, _ ptrace.ScopeSpans, _ ptrace.Span, text string) {
		rs.Resource().Attributes().PutStr("service.name", text)
	}},
	{"scope name", func(_ ptrace.ResourceSpans, ss ptrace.ScopeSpans, _ ptrace.Span, text string) {
		ss.Scope().SetName(text)
	}},
	{"scope version", func(_ ptrace.ResourceSpans, ss ptrace.ScopeSpans, _ ptrace.Span, text string) {
		ss.Scope().SetVersion(text)
	}},
	{"scope attribute", func(_ ptrace.ResourceSpans, ss ptrace.ScopeSpans, _ ptrace.Span, text string) {
		ss.Scope().Attributes().PutStr("x", text)
	}},
	{"schema URL", func(_ ptrace.ResourceSpans, ss ptrace.ScopeSpans, _ ptrace.Span, text string) {
		ss.SetSchemaUrl("https://x/" + text)
	}},
}

type putOnSpan = func(ptrace.ResourceSpans, ptrace.ScopeSpans, ptrace.Span, string)

func putText(key string) putOnSpan {
	return func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		s.Attributes().PutStr(key, text)
	}
}

// putJSON puts the text, as a JSON string, into a form.
func putJSON(key, form string) putOnSpan {
	return func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span, text string) {
		quoted := strings.ReplaceAll(strings.ReplaceAll(text, `"`, `\"`), "\n", `\n`)
		s.Attributes().PutStr(key, fmt.Sprintf(form, `"`+quoted+`"`))
	}
}

// logPlaces are where text can sit on a log record.
var logPlaces = []struct {
	name string
	put  func(lr plog.LogRecord, text string)
}{
	{"body", func(lr plog.LogRecord, text string) { lr.Body().SetStr(text) }},
	{"body of a message", func(lr plog.LogRecord, text string) {
		lr.SetEventName("gen_ai.user.message")
		lr.Body().SetEmptyMap().PutStr("content", text)
	}},
	{"nested body", func(lr plog.LogRecord, text string) {
		lr.Body().SetEmptyMap().PutEmptySlice("a").AppendEmpty().SetStr(text)
	}},
	{"log attribute", func(lr plog.LogRecord, text string) { lr.Attributes().PutStr("x", text) }},
	{"severity text", func(lr plog.LogRecord, text string) { lr.SetSeverityText(text) }},
	{"log event name", func(lr plog.LogRecord, text string) { lr.SetEventName(text) }},
}

// Whatever place a secret comes in, it is in nothing that the program keeps,
// says or answers.
func TestNoSecretThatCameInIsAnywhere(t *testing.T) {
	RequireEngine(t)
	r := rand.New(rand.NewPCG(7, 7))   // the secrets are made up
	dir, err := os.MkdirTemp("", "st") //nolint:usetesting // a short path: the engine's socket lies below it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	in := startCanary(t, dir)
	all := make([]canary, canaries)
	for i := range all {
		all[i] = newCanary(r, i)
		sendCanary(t, in, &all[i], i, r.IntN(len(spanPlaces)+len(logPlaces)))
	}
	waitSettled(t, in)
	for what, data := range answers(t, in) {
		requireNone(t, all, what, data)
	}
	requireNone(t, all, "the log", []byte(in.Log()))
	tables, rows := tableTexts(t, dir)
	require.Greater(t, rows, canaries)
	for table, data := range tables {
		requireNone(t, all, "table "+table, data)
	}
	for _, label := range []string{"[EMAIL:", "[CREDIT_CARD:", "[IBAN:", "[PHONE:", "[JWT:", "[API_KEY:", "[PRIVATE_KEY:"} {
		require.True(t, holds(tables, label), "%s stands for what was taken", label)
	}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // parts come and go
		}
		data, err := os.ReadFile(path)
		if err == nil {
			requireNone(t, all, "file "+path, data)
		}
		return nil
	}))
}

func holds(tables map[string][]byte, text string) bool {
	for _, data := range tables {
		if bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

func startCanary(t *testing.T, dir string) *Instance {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(path, []byte(canaryPolicy), 0o600))
	return Start(t, Options{DataDir: dir, Env: []string{"STEPTRAIL_POLICY_FILE=" + path, "STEPTRAIL_REDACTION_KEY=0123456789abcdef0123456789abcdef"}})
}

// sendCanary sends one secret in one place, on a run of ten.
func sendCanary(t *testing.T, in *Instance, c *canary, i, place int) {
	t.Helper()
	trace, id := traceID(fmt.Sprint("canary-", i/10)), spanID("canary", i+1)
	now := pcommon.NewTimestampFromTime(time.Now())
	if place >= len(spanPlaces) {
		c.place = logPlaces[place-len(spanPlaces)].name
		ld := plog.NewLogs()
		lr := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		lr.SetTraceID(trace)
		lr.SetSpanID(id)
		lr.SetTimestamp(now)
		logPlaces[place-len(spanPlaces)].put(lr, c.text)
		require.NoError(t, in.PostLogs(t.Context(), plogotlp.NewExportRequestFromLogs(ld)))
		return
	}
	c.place = spanPlaces[place].name
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "canary")
	ss := rs.ScopeSpans().AppendEmpty()
	span := ss.Spans().AppendEmpty()
	span.SetTraceID(trace)
	span.SetSpanID(id)
	span.SetName("execute_tool send")
	span.SetStartTimestamp(now)
	span.SetEndTimestamp(now)
	span.Attributes().PutStr("gen_ai.operation.name", []string{"execute_tool", "chat", "invoke_agent"}[i%3])
	span.Attributes().PutStr("gen_ai.tool.name", "send")
	spanPlaces[place].put(rs, ss, span, c.text)
	require.NoError(t, in.PostTraces(t.Context(), ptraceotlp.NewExportRequestFromTraces(td)))
}

func requireNone(t *testing.T, all []canary, where string, data []byte) {
	t.Helper()
	for i := range all {
		if bytes.Contains(data, []byte(all[i].secret)) {
			t.Errorf("%s holds the secret that came as %s: %.40q", where, all[i].place, all[i].text)
		}
	}
}

// answers gives all that the program says over HTTP.
func answers(t *testing.T, in *Instance) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	get := func(host, path string) []byte {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+path, nil)
		require.NoError(t, err)
		status, body, err := in.do(req)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status, "%s: %s", path, body)
		out[path] = body
		return body
	}
	runs, err := Collect[scoredRun](t.Context(), in, "/runs?limit=500", "runs")
	require.NoError(t, err)
	require.NotEmpty(t, runs)
	for _, r := range runs {
		id := url.PathEscape(r.RunID)
		get(in.Query, "/api/v1/runs/"+id)
		get(in.Query, "/api/v1/runs/"+id+"/history?content=full")
	}
	for _, path := range []string{"/api/v1/runs?limit=500", "/api/v1/findings?limit=500", "/api/v1/unknowns?limit=500", "/metrics"} {
		require.NotEmpty(t, get(in.Query, path))
	}
	get(in.Telemetry, "/metrics")
	return out
}
