package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const testKey = "0123456789abcdef"

// stated is what every policy must state.
const stated = `version: 1
redaction: {mode: pseudonym, key: "0123456789abcdef", detectors: [email]}
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
`

func environment(pairs ...string) func(string) (string, bool) {
	m := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func parse(t testing.TB, text string) *Policy {
	t.Helper()
	p, err := Parse([]byte(text), nil)
	require.NoError(t, err)
	return p
}

func TestWhatIsLeftOutHasTheDefaultsOfTheDesign(t *testing.T) {
	p := parse(t, stated)
	assert.Equal(t, Detection{
		Repeat: 3, CycleRounds: 3, StallWindow: 8, UnknownSLA: 5 * time.Minute, Quiet: 10 * time.Second, InFlight: 5 * time.Minute,
		Settle: 2 * time.Second, ContextBytes: 65536,
	}, p.Detection)
	assert.Equal(t, Sampling{ReadContent: 1, Grace: 24 * time.Hour}, p.Sampling)
	assert.Equal(t, TreatmentKeep, p.Redaction.IdempotencyKeys)
	assert.Equal(t, TreatmentKeep, p.Redaction.Targets)
	assert.Empty(t, p.Redaction.Keys)
	assert.Empty(t, p.Redaction.Rules)
	assert.Empty(t, p.Rules)
	assert.Empty(t, p.RunIDKeys)
	assert.Nil(t, p.Tool("get_order"))
	assert.Nil(t, p.Price("gpt-4o"))
	assert.Equal(t, Limits{Attempts: DefaultAttempts}, p.Limits("a", "b"))
}

// designed is the example of the design, with its comments left out.
const designed = `version: 1
tools:
  - {match: "issue_refund", class: act, target: "order/{order_id}", key: "{idempotency_key}", on_unknown: reconcile, reconcile_with: ["payments_lookup"], undone_by: ["cancel_refund"], approval: required}
  - {match: "delete_*", class: act, forbidden: true}
  - {match: "get_*", class: read}
  - {match: "Bash", class: act, repeatable: true}
  - {match: "debugger_next", class: read, repeat: 0}
  - {match: "web_search", class: read, repeat_unseen: 6}
limits:
  - match: {agent: "*", task_type: "*"}
    steps: 40
    tool_calls: 12
    tokens: 150000
    wall_time: 2m
    cost_usd: 0.50
    attempts: 5
detection: {repeat: 3, cycle_rounds: 3, stall_window: 8, unknown_sla: 5m, quiet: 10s, in_flight: 5m, settle: 2s, context_bytes: 65536}
rules:
  - {name: guardrail_bypassed, severity: critical, condition: 'attributes["guardrail.result"] == "bypass"', message: "the guardrail was bypassed"}
run_id_keys: ["ai.telemetry.metadata.runId", "mastra.metadata.runId"]
prices:
  - {model: "gpt-4o*", input: 2.5, cached: 1.25, output: 10}
redaction:
  mode: pseudonym
  key: ${env:STEPTRAIL_REDACTION_KEY}
  detectors: [email, credit_card, iban, phone, us_ssn, ip, jwt, bearer, api_key, private_key, url_credentials]
  keys: ["password", "authorization", "*_secret"]
  rules: [{name: patient_id, pattern: 'PAT-\d{8}'}]
  idempotency_keys: keep
  targets: keep
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
sampling: {read_content: 1.0, grace: 1d}
`

func TestTheExampleOfTheDesignIsReadWhole(t *testing.T) {
	p, err := Parse([]byte(designed), environment("STEPTRAIL_REDACTION_KEY", testKey))
	require.NoError(t, err)

	refund := p.Tool("issue_refund")
	require.NotNil(t, refund)
	assert.Equal(t, ClassAct, refund.Class)
	assert.Equal(t, "order/{order_id}", refund.Target.String())
	assert.Equal(t, "{idempotency_key}", refund.Key.String())
	assert.Equal(t, OnUnknownReconcile, refund.OnUnknown)
	assert.Equal(t, []string{"payments_lookup"}, refund.ReconcileWith)
	assert.Equal(t, []string{"cancel_refund"}, refund.UndoneBy)
	assert.True(t, refund.ApprovalRequired)
	assert.True(t, refund.IsReconciledBy("mcp__payments__payments_lookup"))
	assert.False(t, refund.IsReconciledBy("cancel_refund"))
	assert.True(t, refund.IsUndoneBy("cancel_refund"))
	assert.True(t, p.Tool("delete_order").Forbidden)
	assert.True(t, p.Tool("Bash").Repeatable)
	assert.Equal(t, 0, p.Tool("debugger_next").RepeatOr(3))
	assert.Equal(t, 3, p.Tool("web_search").RepeatOr(3))
	assert.Equal(t, 3, p.Tool("unheard_of").RepeatOr(3))
	assert.Equal(t, 6, p.Tool("web_search").RepeatUnseen)
	assert.Equal(t, Limits{
		Steps: 40, ToolCalls: 12, Tokens: 150000, WallTime: 2 * time.Minute, CostNanoUSD: 500_000_000, Attempts: 5,
	}, p.Limits("support", "refund"))

	require.Len(t, p.Rules, 1)
	assert.Equal(t, "guardrail_bypassed", p.Rules[0].Name)
	assert.Equal(t, SeverityCritical, p.Rules[0].Severity)
	assert.Equal(t, `attributes["guardrail.result"] == "bypass"`, p.Rules[0].Condition)
	assert.Equal(t, "the guardrail was bypassed", p.Rules[0].Message)
	assert.Equal(t, []string{"ai.telemetry.metadata.runId", "mastra.metadata.runId"}, p.RunIDKeys)
	assert.Equal(t, &Price{Model: "gpt-4o*", Input: 2_500_000_000, Cached: 1_250_000_000, Output: 10_000_000_000}, p.Price("gpt-4o-2024-11-20"))

	assert.Equal(t, RedactionModePseudonym, p.Redaction.Mode)
	assert.Equal(t, testKey, p.Redaction.Key.Reveal())
	assert.Equal(t, detectorNames, p.Redaction.Detectors)
	assert.Equal(t, []string{"password", "authorization", "*_secret"}, p.Redaction.Keys)
	require.Len(t, p.Redaction.Rules, 1)
	assert.Equal(t, "patient_id", p.Redaction.Rules[0].Name)
	assert.True(t, p.Redaction.Rules[0].Pattern.MatchString("PAT-12345678"))
	assert.Equal(t, 400*day, p.Retention("default").Act)
	assert.Equal(t, 30*day, p.Retention("default").Content)
}

// scorePolicy is what the scoring bench writes: YAML with JSON behind tools and limits.
const scorePolicy = `version: 1
run_id_keys: ["ai.telemetry.metadata.runId", "ai.settings.context.runId", "mastra.metadata.runId", "traceloop.association.properties.run_id"]
detection: {repeat: 3, cycle_rounds: 2, stall_window: 8, unknown_sla: 24h, quiet: 2s, in_flight: 2s, settle: 1s, context_bytes: 65536}
redaction: {mode: pseudonym, key: "${env:STEPTRAIL_REDACTION_KEY}", detectors: [email], keys: [], rules: [], idempotency_keys: keep}
retention: {act: 4000d, human: 4000d, think: 4000d, read: 4000d, content: 4000d, findings: 4000d, access_log: 4000d}
sampling: {read_content: 1.0}
tools: [{"match": "get_*", "class": "read"}, {"match": "*-get_*", "class": "read"}, {"match": "refund", "class": "act", "approval": "required", "forbidden": true, "repeat": 0, "repeat_unseen": 5, "repeatable": true, "undone_by": ["undo"], "reconcile_with": ["look"], "on_unknown": "reconcile"}]
limits: [{"match": {"agent": "support@limit-wall-time-over", "task_type": "*"}, "wall_time": "3399ms", "cost_usd": 1e-05, "tool_calls": 6}]
`

func TestAPolicyOfTheScoringBenchIsRead(t *testing.T) {
	p, err := Parse([]byte(scorePolicy), environment("STEPTRAIL_REDACTION_KEY", "0123456789abcdef0123456789abcdef"))
	require.NoError(t, err)
	assert.Equal(t, 24*time.Hour, p.Detection.UnknownSLA)
	assert.Equal(t, ClassRead, p.Tool("support-get_order").Class)
	assert.Equal(t, ClassReconcile, p.Tool("look").Class)
	assert.Equal(t, Limits{WallTime: 3399 * time.Millisecond, CostNanoUSD: 10_000, ToolCalls: 6, Attempts: 5}, p.Limits("support@limit-wall-time-over", "refund"))
	assert.Equal(t, Limits{Attempts: 5}, p.Limits("support@other", "refund"))
}

// TestThePoliciesOfTheLabelledCasesAreRead builds the policy of all cases together, as the scoring bench does.
func TestThePoliciesOfTheLabelledCasesAreRead(t *testing.T) {
	files, err := filepath.Glob("../../../shared/cases*/*.json")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no labelled cases beside the repository")
	}
	type tool = map[string]any
	tools := make(map[string]tool)
	rows, limits := []tool{}, []tool{}
	for _, file := range files {
		var c struct {
			Name   string
			Policy struct {
				Tools  map[string]tool
				Limits tool
			}
			Runs []struct{ Agent string }
		}
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		if json.Unmarshal(data, &c) != nil {
			continue
		}
		for name, row := range c.Policy.Tools {
			row["match"] = name
			tools[name] = row
		}
		if len(c.Policy.Limits) > 0 && len(c.Runs) > 0 {
			if ms, ok := c.Policy.Limits["wall_time_ms"]; ok {
				delete(c.Policy.Limits, "wall_time_ms")
				c.Policy.Limits["wall_time"] = fmt.Sprintf("%.0fms", ms)
			}
			c.Policy.Limits["match"] = tool{"agent": c.Runs[0].Agent + "@" + c.Name, "task_type": "*"}
			limits = append(limits, c.Policy.Limits)
		}
	}
	for _, row := range tools {
		rows = append(rows, row)
	}
	toolText, err := json.Marshal(rows)
	require.NoError(t, err)
	limitText, err := json.Marshal(limits)
	require.NoError(t, err)
	p := parse(t, stated+"tools: "+string(toolText)+"\nlimits: "+string(limitText)+"\n")
	require.NotEmpty(t, tools)
	for name := range tools {
		if !strings.ContainsAny(name, "*?") {
			assert.NotNil(t, p.Tool(name), name)
		}
	}
}

func TestTheRedactionKeyIsTakenFromTheCallerOnlyWhereTheEnvironmentHasNone(t *testing.T) {
	_, err := Parse([]byte(designed), nil)
	require.ErrorIs(t, err, ErrNoRedactionKey)
	assert.EqualError(t, err, "redaction.key (line 25): no redaction key: environment variable STEPTRAIL_REDACTION_KEY is not set; "+
		"set it to a secret of 16 to 1024 bytes, for example from: openssl rand -hex 32")
	var problem *Problem
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, "redaction.key", problem.Key)
	assert.Equal(t, 25, problem.Line)

	_, err = Parse([]byte(designed), environment("STEPTRAIL_REDACTION_KEY", ""))
	require.ErrorIs(t, err, ErrNoRedactionKey)

	p, err := Parse([]byte(designed), nil, WithRedactionKey(testKey))
	require.NoError(t, err)
	assert.Equal(t, testKey, p.Redaction.Key.Reveal())

	p, err = Parse([]byte(designed), environment("STEPTRAIL_REDACTION_KEY", "the key of the environment"), WithRedactionKey(testKey))
	require.NoError(t, err)
	assert.Equal(t, "the key of the environment", p.Redaction.Key.Reveal())

	_, err = Parse([]byte(strings.Replace(designed, "  key: ${env:STEPTRAIL_REDACTION_KEY}\n", "", 1)), nil, WithRedactionKey(testKey))
	require.EqualError(t, err, "redaction.key (line 24): is not stated and has no default; write for example key: ${env:STEPTRAIL_REDACTION_KEY}")
	assert.NotErrorIs(t, err, ErrNoRedactionKey)

	_, err = Parse([]byte(designed), nil, WithRedactionKey("short"))
	require.EqualError(t, err, "redaction.key (line 25): has 5 bytes, must have 16 to 1024 bytes")
}

func TestNoPrintShowsTheRedactionKey(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	p, err := Parse([]byte(designed), environment("STEPTRAIL_REDACTION_KEY", secret))
	require.NoError(t, err)
	type hidden struct{ p Policy } // printing reaches unexported fields by reflection only
	text := p.Redaction.Key.String() + p.Hash() + canonical(p)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		text += fmt.Sprintf(verb, p) + fmt.Sprintf(verb, *p) + fmt.Sprintf(verb, hidden{*p}) + fmt.Sprintf(verb, p.Redaction) + fmt.Sprintf(verb, p.Redaction.Key)
	}
	data, err := json.Marshal(p.Redaction.Key)
	require.NoError(t, err)
	assert.JSONEq(t, `"[hidden]"`, string(data))
	assert.NotContains(t, text, "hunter2")
	assert.NotContains(t, text, fmt.Sprintf("%x", "hunter2"))
}

func TestNoProblemShowsTheRedactionKeyOrTheEnvironment(t *testing.T) {
	const secret = "hunter2"
	env := environment("STEPTRAIL_REDACTION_KEY", secret, "OTHER", secret+"-and-more")
	for _, text := range []string{
		designed,
		strings.Replace(designed, "${env:STEPTRAIL_REDACTION_KEY}", secret, 1),
		strings.Replace(designed, "${env:STEPTRAIL_REDACTION_KEY}", "*"+secret, 1),
		strings.Replace(designed, "${env:STEPTRAIL_REDACTION_KEY}", "${"+secret+"}", 1),
		strings.Replace(designed, "${env:STEPTRAIL_REDACTION_KEY}", "{a: "+secret+"}", 1),
		strings.Replace(designed, "${env:STEPTRAIL_REDACTION_KEY}", "!!binary "+secret, 1),
		strings.Replace(designed, "mode: pseudonym", "mode: ${env:OTHER}", 1),
		strings.Replace(designed, "steps: 40", "steps: ${env:OTHER}", 1),
		strings.Replace(designed, `'PAT-\d{8}'`, `'(${env:OTHER}'`, 1),
		strings.Replace(designed, `"order/{order_id}"`, `"{${env:OTHER}"`, 1),
	} {
		_, err := Parse([]byte(text), env)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), secret)
	}
}

func TestAConditionThatDoesNotCompileIsReportedWithAllOtherProblems(t *testing.T) {
	text := strings.Replace(designed, "repeat: 3,", "repeat: 1,", 1)
	bad := errors.New("unexpected token")
	_, err := Parse([]byte(text), environment("STEPTRAIL_REDACTION_KEY", testKey), WithConditionCheck(func(condition string) error {
		assert.Equal(t, `attributes["guardrail.result"] == "bypass"`, condition)
		return bad
	}))
	require.ErrorIs(t, err, bad)
	assert.EqualError(t, err, `detection.repeat (line 17): "1" is not allowed: use 2 to 1000
rules[0].condition (line 19): rule "guardrail_bypassed" does not compile: unexpected token`)

	p, err := Parse([]byte(designed), nil, WithRedactionKey(testKey), WithConditionCheck(func(string) error { return nil }))
	require.NoError(t, err)
	assert.EqualError(t, p.Rules[0].Problem(bad), `rules[0].condition (line 19): rule "guardrail_bypassed" does not compile: unexpected token`)
	require.ErrorIs(t, p.Rules[0].Problem(bad), bad)
}

func TestRetentionOfATenantHasItsOwnTermsBeforeThoseOfThePolicy(t *testing.T) {
	p := parse(t, strings.Replace(stated, "access_log: 400d}", `access_log: 400d, tenants: {acme: {content: 7d, act: 36h}, "b.c/d": , empty: {}}}`, 1))
	assert.Equal(t, Retention{Act: 36 * time.Hour, Human: 400 * day, Think: 90 * day, Read: 90 * day, Content: 7 * day, Findings: 400 * day, AccessLog: 400 * day}, p.Retention("acme"))
	assert.Equal(t, p.Retention("nobody"), p.Retention("b.c/d"))
	assert.Equal(t, p.Retention("nobody"), p.Retention("empty"))
}

func TestTheTermOfAStepFollowsItsClass(t *testing.T) {
	r := Retention{Act: 1, Human: 2, Think: 3, Read: 4, Content: 3}
	for class, want := range map[Class]time.Duration{
		ClassAct: 1, ClassReconcile: 1, ClassUnset: 1, ClassHuman: 2, ClassThink: 3, ClassRead: 4, ClassOther: 4, ClassHandoff: 4,
	} {
		assert.Equal(t, want, r.Step(class), class.String())
		assert.Equal(t, min(want, 3), r.ContentOf(class), class.String())
	}
}
