package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
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

const erasurePolicy = `version: 1
redaction: {mode: pseudonym, key: "${env:STEPTRAIL_REDACTION_KEY}", detectors: [email]}
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
tools: [{match: "issue_refund", class: act}]
detection: {quiet: 2s, in_flight: 2s, settle: 1s}
`

// spoken is a run, and the word that stands in everything which a person or a model
// has said in it.
type spoken struct{ run, word, user, target string }

func (w spoken) late() spoken {
	w.word = "LATE" + w.word
	w.user, w.target = "user-"+w.word, "account/"+w.word
	return w
}

// spans are an agent's span, a model call and an act, from the n-th on. The act
// ended in an error: a finding speaks of its target.
func (w spoken) spans(n int) ptrace.Traces {
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "support")
	rs.Resource().Attributes().PutStr("customer", w.word)
	list := rs.ScopeSpans().AppendEmpty().Spans()
	begin := time.Now().Add(-time.Minute)
	for i, op := range []string{"invoke_agent", "chat", "execute_tool"} {
		s := list.AppendEmpty()
		s.SetTraceID(traceID(w.run))
		s.SetSpanID(spanID(w.run, n+i))
		if i > 0 {
			s.SetParentSpanID(spanID(w.run, 0))
		} else if n > 0 {
			s.SetParentSpanID(spanID(w.run, 0))
		}
		s.SetName(op + " for " + w.word)
		s.SetStartTimestamp(pcommon.NewTimestampFromTime(begin.Add(time.Duration(n+i) * time.Second)))
		s.SetEndTimestamp(pcommon.NewTimestampFromTime(begin.Add(time.Duration(n+i)*time.Second + time.Millisecond)))
		a := s.Attributes()
		a.PutStr("gen_ai.operation.name", op)
		a.PutStr("agent.run.id", w.run)
		a.PutStr("user.id", w.user)
		a.PutStr("session.id", "session-"+w.word)
		a.PutStr("note", "about "+w.word)
		s.Events().AppendEmpty().SetName("said " + w.word)
		switch op {
		case "invoke_agent":
			a.PutStr("gen_ai.agent.name", "support")
		case "chat":
			a.PutStr("gen_ai.request.model", "m-1")
			a.PutStr("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"refund `+w.word+`"}]}]`)
			a.PutStr("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"will refund `+w.word+`"}]}]`)
		case "execute_tool":
			a.PutStr("gen_ai.tool.name", "issue_refund")
			a.PutStr("gen_ai.tool.call.id", fmt.Sprint("call-", n))
			a.PutStr("gen_ai.tool.call.arguments", `{"to":"`+w.word+`"}`)
			a.PutStr("gen_ai.tool.call.result", `{"paid":"`+w.word+`"}`)
			a.PutStr("agent.target", w.target)
			a.PutStr("agent.outcome", "unknown")
			a.PutStr("error.type", "timeout")
			s.Status().SetCode(ptrace.StatusCodeError)
			s.Status().SetMessage("no answer for " + w.word)
		}
	}
	return traces
}

func (w spoken) send(t *testing.T, in *Instance, n int) {
	t.Helper()
	require.NoError(t, in.PostTraces(t.Context(), ptraceotlp.NewExportRequestFromTraces(w.spans(n))))
	ld := plog.NewLogs()
	lr := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	lr.SetTraceID(traceID(w.run))
	lr.SetSpanID(spanID(w.run, n+1))
	lr.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	lr.SetEventName("gen_ai.user.message")
	lr.Body().SetEmptyMap().PutStr("content", "logged "+w.word)
	require.NoError(t, in.PostLogs(t.Context(), plogotlp.NewExportRequestFromLogs(ld)))
}

// job is what the tests read of a hold or an erasure.
type job struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	UnitsOnHold int    `json:"units_on_hold"`
	Runs        int    `json:"runs"`
	User        string `json:"user"`
	Certificate struct {
		Removed []struct {
			Table  string `json:"table"`
			Rows   int    `json:"rows"`
			Sha256 string `json:"sha256"`
		} `json:"removed"`
	} `json:"certificate"`
}

func (in *Instance) ask(t *testing.T, method, path, body string) (j job) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+in.Query+APIPrefix+path, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", JSON)
	}
	status, answer, err := in.do(req)
	require.NoError(t, err)
	require.Less(t, status, 300, "%s %s: %s", method, path, answer)
	require.NoError(t, json.Unmarshal(answer, &j))
	return j
}

func (in *Instance) waitFor(t *testing.T, id string, statuses ...string) (e job) {
	t.Helper()
	Eventually(t, 5*time.Minute, func() error {
		if err := in.GetJSON(t.Context(), "/erasures/"+id, &e); err != nil {
			return err
		}
		if !slices.Contains(statuses, e.Status) {
			return fmt.Errorf("erasure %s is %s, want %s", id, e.Status, statuses)
		}
		return nil
	})
	return e
}

// everywhere gives all that is kept and answered, by where it is.
func everywhere(t *testing.T, in *Instance, dir string, jobs ...string) map[string][]byte {
	t.Helper()
	out := answers(t, in)
	for _, path := range append([]string{"/holds"}, jobs...) {
		status, body, err := in.Get(t.Context(), path, JSON)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
		out[path] = body
	}
	tables, rows := tableTexts(t, dir)
	require.NotZero(t, rows)
	for name, text := range tables {
		out["table "+name] = text
	}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // parts come and go
		}
		if data, err := os.ReadFile(path); err == nil {
			out["file "+path] = data
		}
		return nil
	}))
	out["the log"] = []byte(in.Log())
	return out
}

// where gives the places that hold the text.
func where(all map[string][]byte, text string) (found []string) {
	for place, data := range all {
		if bytes.Contains(data, []byte(text)) {
			found = append(found, place)
		}
	}
	slices.Sort(found)
	return found
}

// skeleton is what of each attempt stays when its run is erased.
func skeleton(t *testing.T, in *Instance, run string) (out []string) {
	t.Helper()
	var h struct {
		Steps []struct {
			Kind     string `json:"kind"`
			Tool     string `json:"tool"`
			Attempts []struct {
				SpanID    string `json:"span_id"`
				Outcome   string `json:"outcome"`
				StartedAt string `json:"started_at"`
			} `json:"attempts"`
		} `json:"steps"`
	}
	require.NoError(t, in.GetJSON(t.Context(), "/runs/"+url.PathEscape(run)+"/history?content=none", &h))
	for _, s := range h.Steps {
		for _, a := range s.Attempts {
			out = append(out, strings.Join([]string{s.Kind, s.Tool, a.SpanID, a.Outcome, a.StartedAt}, " "))
		}
	}
	require.NotEmpty(t, out)
	return out
}

// Runs are held and erased while the program is killed and started again: what is
// held survives, and of what is erased nothing is left but that it happened.
func TestWhatIsErasedIsNowhereAndWhatIsHeldStays(t *testing.T) {
	RequireEngine(t)
	if testing.Short() {
		t.Skip("waits for the engine to remove replaced parts, twice")
	}
	dir, err := os.MkdirTemp("", "st") //nolint:usetesting // a short path: the engine's socket lies below it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(policy, []byte(erasurePolicy), 0o600))
	in := Start(t, Options{DataDir: dir, Env: []string{"STEPTRAIL_POLICY_FILE=" + policy, "STEPTRAIL_REDACTION_KEY=0123456789abcdef0123456789abcdef"}})

	byRun := spoken{"by-run", "KRONKEL7", "user-KRONKEL7", "account/KRONKEL7"}
	byTarget := spoken{"by-target", "VASTER81", "user-VASTER81", "account/TARGETQ4"}
	sameTarget := spoken{"same-target", "BULMEN62", "user-BULMEN62", "account/TARGETQ4"}
	byUser := spoken{"by-user", "ZWICKAR5", "USERJ9QX", "account/ZWICKAR5"}
	held := spoken{"held", "HOLDWORD3", "USERJ9QX", "account/HOLDWORD3"}
	full := spoken{"full", "PLINTER4", "user-PLINTER4", "account/PLINTER4"}
	byMail := spoken{"by-mail", "MURGLE31", "ann.murgle@example.com", "account/MURGLE31"}
	other := spoken{"other", "STAYING2", "user-STAYING2", "account/STAYING2"}
	all := []spoken{byRun, byTarget, sameTarget, byUser, held, full, byMail, other}
	for _, w := range all {
		w.send(t, in, 0)
	}
	waitSettled(t, in)
	before := everywhere(t, in, dir)
	queued := 0
	for _, w := range all {
		found := where(before, w.word)
		in := func(place string) bool {
			return slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, place) })
		}
		for _, place := range []string{"table steptrail.steps", "table steptrail.messages", "content=full"} {
			require.True(t, in(place), "%s is in %s before: %v", w.word, place, found)
		}
		require.Contains(t, where(before, w.target), "table steptrail.findings")
		if in("/queue/") && w != other && w != held {
			queued++
		}
	}
	require.NotZero(t, queued, "free pages of the queue still hold what has passed it")
	skeletons := map[string][]string{}
	for _, w := range []spoken{byRun, byTarget, sameTarget, byUser} {
		skeletons[w.run] = skeleton(t, in, w.run)
	}

	parts := activeParts(t, dir)
	hold := in.ask(t, http.MethodPost, "/holds", `{"run_id": "held", "owner": "legal", "reason": "case 7"}`)
	Eventually(t, time.Minute, func() error {
		holds, err := Collect[job](t.Context(), in, "/holds?status=active", "holds")
		if err == nil && len(holds) != 1 {
			err = fmt.Errorf("%d holds are active", len(holds))
		}
		return err
	})
	erase := func(what string) string {
		return in.ask(t, http.MethodPost, "/erasures", `{`+what+`, "owner": "dpo", "reason": "asked for"}`).ID
	}
	runs, err := Collect[struct {
		RunID string `json:"run_id"`
		User  string `json:"user"`
	}](t.Context(), in, "/runs?user="+url.QueryEscape(byMail.user), "runs")
	require.NoError(t, err)
	require.Len(t, runs, 1, "a user is found by the name that spans had, though another is stored")
	require.Equal(t, byMail.run, runs[0].RunID)
	require.NotContains(t, runs[0].User, "@")
	mail := in.ask(t, http.MethodPost, "/erasures", `{"user": "`+byMail.user+`", "owner": "dpo", "reason": "asked for by `+byMail.user+`"}`).ID
	run, target, user, whole := erase(`"run_id": "by-run"`), erase(`"target": "account/TARGETQ4"`), erase(`"user": "USERJ9QX"`), erase(`"run_id": "full", "full": true`)
	in.Kill()
	in.Restart()
	for _, id := range []string{run, target, whole, mail} {
		in.waitFor(t, id, "removing_files", "done")
	}
	in.waitFor(t, user, "waiting_for_hold")
	in.Kill() // replaced parts and freed pages are still there
	in.Restart()
	late := []spoken{byRun.late(), full.late(), held.late()}
	for _, w := range late {
		w.send(t, in, 10)
	}
	waitSettled(t, in)
	for _, id := range []string{run, target, whole, mail} {
		in.waitFor(t, id, "done")
	}

	paths := []string{"/erasures/" + run, "/erasures/" + target, "/erasures/" + user, "/erasures/" + whole, "/erasures/" + mail}
	after := everywhere(t, in, dir, paths...)
	for _, w := range []spoken{byRun, byTarget, sameTarget, byUser, full, late[0], late[1], byMail, {word: "TARGETQ4"}, {word: byMail.user}} {
		require.Empty(t, where(after, w.word), "%s %s", w.run, w.word)
	}
	requireGone(t, dir, parts)
	for _, w := range []spoken{held, late[2], other} {
		for _, place := range []string{"table steptrail.steps", "table steptrail.messages", "/api/v1/runs/" + w.run + "/history?content=full"} {
			require.Contains(t, where(after, w.word), place)
		}
	}
	for id, attempts := range skeletons {
		now := skeleton(t, in, id)
		for _, a := range attempts {
			require.Contains(t, now, a, "what happened, of what kind, how it ended and when")
		}
	}
	require.Len(t, skeleton(t, in, "by-run"), len(skeletons["by-run"])+2, "late spans happened too")
	status, _, err := in.Get(t.Context(), "/runs/full", JSON)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, status)

	// What the certificates say.
	removed := func(id string) map[string]int {
		e := in.waitFor(t, id, "done", "waiting_for_hold")
		out := map[string]int{}
		for _, r := range e.Certificate.Removed {
			require.Len(t, r.Sha256, 64)
			out[r.Table] += r.Rows
		}
		return out
	}
	require.Equal(t, 3, removed(target)["steps"]/2, "three spans of each of two runs: %v", removed(target))
	for _, table := range []string{"steps", "messages", "message_facts", "log_content", "attempts", "acts", "findings", "runs"} {
		require.NotZero(t, removed(run)[table], table)
		require.NotZero(t, removed(whole)[table], table)
	}
	require.GreaterOrEqual(t, removed(run)["steps"], 3)
	require.NotZero(t, removed(whole)["run_links"], "with full, what joins goes too")
	require.Zero(t, removed(run)["run_links"])
	require.Equal(t, 1, in.waitFor(t, mail, "done").Runs)
	waiting := in.waitFor(t, user, "waiting_for_hold")
	require.NotZero(t, waiting.UnitsOnHold)
	require.Equal(t, 2, waiting.Runs)

	// Who asked for it and who read it.
	log := string(askEngine(t, dir, "SELECT action, actor, run FROM steptrail.access_log ORDER BY at FORMAT TSVRaw"))
	require.Equal(t, 5, strings.Count(log, "erasure.request\tdpo\t"), log)
	require.Contains(t, log, "hold.place\tlegal\theld")
	require.Contains(t, log, "run.read\t127.0.0.1\tby-run")

	// The hold ends, and what waited for it goes.
	parts = activeParts(t, dir)
	in.ask(t, http.MethodDelete, "/holds/"+hold.ID, "")
	in.waitFor(t, user, "done")
	after = everywhere(t, in, dir, paths...)
	for _, w := range []spoken{held, late[2], {word: "USERJ9QX"}} {
		require.Empty(t, where(after, w.word), w.word)
	}
	requireGone(t, dir, parts)
	require.Contains(t, where(after, other.word), "/api/v1/runs/other/history?content=full")
}
