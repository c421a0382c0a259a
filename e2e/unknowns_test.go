package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// unknownPolicy classes the act; its sweep does not wait for long.
const unknownPolicy = `version: 1
tools: [{match: issue_refund, class: act, on_unknown: reconcile, reconcile_with: [find_refund]}]
detection: {quiet: 1s, unknown_sla: 1s}
redaction: {mode: pseudonym, key: "0123456789abcdef0123456789abcdef", detectors: [email]}
retention: {act: 1d, human: 1d, think: 1d, read: 1d, content: 1d, findings: 1d, access_log: 1d}
`

// unknown is what the tests read of an unknown outcome.
type unknown struct {
	ID      string `json:"id"`
	RunID   string `json:"run_id"`
	Target  string `json:"target"`
	Status  string `json:"status"`
	Overdue bool   `json:"overdue"`
	Next    *struct {
		Action        string   `json:"action"`
		ReconcileWith []string `json:"reconcile_with"`
	} `json:"next"`
	Settled *struct {
		By     string `json:"by"`
		Result string `json:"result"`
		Actor  string `json:"actor"`
	} `json:"settled"`
}

// refund makes one tool call of a run: a refund that ended so.
func refund(run string, n int, key, outcome string, start time.Time) ptraceotlp.ExportRequest {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "e2e-agent")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(traceID(run))
	span.SetSpanID(spanID(run, n))
	span.SetName("execute_tool issue_refund")
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(start.Add(10 * time.Millisecond)))
	for k, v := range map[string]string{
		"agent.run.id": run, "agent.step.id": fmt.Sprint("step-", n), "agent.target": "order/" + run, "agent.idempotency_key": key, "agent.outcome": outcome,
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "issue_refund", "gen_ai.tool.call.arguments": `{"order_id": 7}`,
	} {
		span.Attributes().PutStr(k, v)
	}
	return ptraceotlp.NewExportRequestFromTraces(td)
}

// TestAnUnknownOutcomeIsSettledThroughTheAPI: it is listed and overdue, a person settles it, and it is settled in every
// answer; the same act after it doubles it where it had happened, and does not where it had not.
func TestAnUnknownOutcomeIsSettledThroughTheAPI(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(unknownPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	in := Start(t, Options{Env: []string{"STEPTRAIL_POLICY_FILE=" + file}})
	ctx := t.Context()
	results := map[string]string{"settled/applied": "applied", "settled/not-applied": "not_applied"}
	for run := range results {
		if err := in.PostTraces(ctx, refund(run, 1, "key-1", "unknown", time.Now().Add(-time.Second))); err != nil {
			t.Fatal(err)
		}
	}
	var open []unknown
	Eventually(t, limit, func() (err error) {
		if open, err = Collect[unknown](ctx, in, "/unknowns?status=open&limit=1", "unknowns"); err != nil {
			return err
		}
		if len(open) != 2 || !open[0].Overdue || !open[1].Overdue {
			return fmt.Errorf("want two overdue outcomes: %+v", open)
		}
		return nil
	})
	for _, u := range open {
		if u.Target != "order/"+u.RunID || u.Next == nil || u.Next.Action != "reconcile" || len(u.Next.ReconcileWith) != 1 {
			t.Errorf("what is asked for next: %+v", u)
		}
		body := fmt.Sprintf(`{"result": %q, "actor": "ann", "note": "seen in the ledger"}`, results[u.RunID])
		if status, answer := in.settle(t, u.ID, body); status != http.StatusOK {
			t.Fatalf("settle: %d %s", status, answer)
		}
		if status, answer := in.settle(t, u.ID, body); status != http.StatusOK {
			t.Errorf("the same again: %d %s", status, answer)
		}
	}
	if status, answer := in.settle(t, open[0].ID, `{"result": "applied", "actor": "bob"}`); results[open[0].RunID] != "applied" && status != http.StatusConflict {
		t.Errorf("the other way: %d %s", status, answer)
	}
	for _, u := range open {
		in.mustBeSettled(t, u)
	}

	// The same act again, under another key.
	for run := range results {
		if err := in.PostTraces(ctx, refund(run, 2, "key-2", "ok", time.Now())); err != nil {
			t.Fatal(err)
		}
	}
	Eventually(t, limit, func() error {
		for run, result := range results {
			var r judgedRun
			if err := in.GetJSON(ctx, "/runs/"+url.PathEscape(run), &r); err != nil {
				return err
			}
			if want := map[string]int{"applied": 1, "not_applied": 0}[result]; r.Spans != 2 || r.Findings["effect.duplicate"] != want {
				return fmt.Errorf("%s: want %d effect.duplicate of 2 spans: %+v", run, want, r)
			}
			if r.Findings["outcome.unsafe_retry"] != 0 {
				return fmt.Errorf("%s: it was settled before it ran again: %+v", run, r.Findings)
			}
		}
		return nil
	})
	for _, u := range open {
		in.mustBeSettled(t, u)
	}
}

// judgedRun is what this test reads of a run.
type judgedRun struct {
	Spans       int            `json:"spans"`
	UnknownOpen int            `json:"unknown_open"`
	Findings    map[string]int `json:"findings"`
}

// mustBeSettled fails the test unless every answer has the outcome as settled.
func (in *Instance) mustBeSettled(t *testing.T, u unknown) {
	t.Helper()
	ctx := t.Context()
	var r judgedRun
	var f struct {
		Status string `json:"status"`
	}
	if err := in.GetJSON(ctx, "/runs/"+url.PathEscape(u.RunID), &r); err != nil || r.UnknownOpen != 0 {
		t.Errorf("unknown_open of %s is %d, want 0 (%v)", u.RunID, r.UnknownOpen, err)
	}
	if err := in.GetJSON(ctx, "/findings/"+u.ID, &f); err != nil || f.Status != "resolved" {
		t.Errorf("finding of %s is %q, want resolved (%v)", u.RunID, f.Status, err)
	}
	list, err := Collect[unknown](ctx, in, "/unknowns?run_id="+url.QueryEscape(u.RunID), "unknowns")
	if err != nil || len(list) != 1 || list[0].Status != "resolved" || list[0].Settled == nil || list[0].Settled.By != "resolution" || list[0].Settled.Actor != "ann" {
		t.Errorf("in the list: %+v (%v)", list, err)
	}
}

// settle posts a resolution.
func (in *Instance) settle(t *testing.T, id, body string) (status int, answer []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+in.Query+APIPrefix+"/unknowns/"+id+"/resolution", bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", JSON)
	status, answer, err = in.do(req)
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}
