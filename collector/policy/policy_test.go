package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	demo "github.com/steptrail/steptrail/collector/policy"
	"github.com/steptrail/steptrail/internal/policy"
)

const key = "0123456789abcdef"

func parse(t testing.TB) *policy.Policy {
	t.Helper()
	p, err := policy.Parse(demo.Demo(), nil, policy.WithRedactionKey(key))
	require.NoError(t, err)
	return p
}

func TestDemoLacksNothingButTheKey(t *testing.T) {
	_, err := policy.Parse(demo.Demo(), nil)
	require.ErrorIs(t, err, policy.ErrNoRedactionKey)

	assert.Equal(t, key, parse(t).Redaction.Key.Reveal())

	p, err := policy.Parse(demo.Demo(), func(name string) (string, bool) {
		return "another key of the environment", name == "STEPTRAIL_REDACTION_KEY"
	}, policy.WithRedactionKey(key))
	require.NoError(t, err)
	assert.Equal(t, "another key of the environment", p.Redaction.Key.Reveal())
}

func TestDemoClassesTools(t *testing.T) {
	p := parse(t)
	for name, class := range map[string]policy.Class{
		"issue_refund":                    policy.ClassAct,
		"support-refund_payment":          policy.ClassAct,
		"mcp__payments__payments_lookup":  policy.ClassReconcile,
		"get_refund_status":               policy.ClassReconcile,
		"get_order":                       policy.ClassRead,
		"support-get_order":               policy.ClassRead,
		"mcp__github__list_issues":        policy.ClassRead,
		"mcp__github__create_issue":       policy.ClassAct,
		"get_or_create_customer":          policy.ClassAct,
		"check_stock":                     policy.ClassRead,
		"check_in_guest":                  policy.ClassAct,
		"Bash":                            policy.ClassAct,
		"Read":                            policy.ClassRead,
		"mark-read":                       policy.ClassUnset,
		"mcp__playwright__browser_click":  policy.ClassAct,
		"browser_snapshot":                policy.ClassRead,
		"mcp__context7__get-library-docs": policy.ClassRead,
		"AskUserQuestion":                 policy.ClassHuman,
		"mcp__sequentialthinking__think":  policy.ClassRead,
		"something_that_nobody_has_heard": policy.ClassUnset,
		"transfer_to_billing":             policy.ClassUnset,
	} {
		got := policy.ClassUnset
		if tool := p.Tool(name); tool != nil {
			got = tool.Class
		}
		assert.Equal(t, class, got, name)
	}
}

// TestTheDetectionOfTheDemoIsTheDefault: its comment says so.
func TestTheDetectionOfTheDemoIsTheDefault(t *testing.T) {
	least, err := policy.Parse([]byte("version: 1\nredaction: {mode: mask, key: "+key+", detectors: []}\n"+
		"retention: {act: 1d, human: 1d, think: 1d, read: 1d, content: 1d, findings: 1d, access_log: 1d}\n"), nil)
	require.NoError(t, err)
	demo := parse(t)
	assert.Equal(t, least.Detection, demo.Detection)
	assert.Equal(t, least.Sampling, demo.Sampling)
}

func TestTheDemoMakesTargetAndKeyOfARefund(t *testing.T) {
	tool := parse(t).Tool("mcp__shop__issue_refund")
	arguments := map[string]string{"order_id": "7731", "idempotency_key": "k-1"}
	lookup := func(path []string) (string, bool) { v, ok := arguments[path[0]]; return v, ok }
	target, ok := tool.Target.Expand(nil, lookup)
	assert.True(t, ok)
	assert.Equal(t, "order/7731", string(target))
	idempotencyKey, ok := tool.Key.Expand(nil, lookup)
	assert.True(t, ok)
	assert.Equal(t, "k-1", string(idempotencyKey))
	assert.True(t, tool.ApprovalRequired)
	assert.True(t, tool.IsReconciledBy("payments_lookup"))
	assert.True(t, tool.IsUndoneBy("cancel_refund"))
}
