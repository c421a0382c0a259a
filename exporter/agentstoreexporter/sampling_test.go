package agentstoreexporter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/collector/policy"
	"github.com/steptrail/steptrail/internal/engine/enginetest"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/sweep"
)

// figures is what statistics are made of: everything derived but times of
// expiry and the versions of rows.
var figures = map[string]string{
	"attempts": `SELECT sum(cityHash64(* EXCEPT (version, expires_at))), count() FROM (SELECT * FROM attempts ORDER BY version DESC LIMIT 1 BY unit, trace_id, span_id, part, call_id)`,
	"acts":     `SELECT sum(cityHash64(* EXCEPT (version, expires_at))), count() FROM (SELECT * FROM acts ORDER BY version DESC LIMIT 1 BY target, started_at, trace_id, span_id, part)`,
	"findings": `SELECT sum(cityHash64(* EXCEPT (version, expires_at))), count() FROM (SELECT * FROM findings ORDER BY version DESC LIMIT 1 BY run, id)`,
	"runs": `SELECT sum(cityHash64(* EXCEPT (version, expires_at, policy_hash, content_first, content_last, findings), mapSort(findings))), count()
		FROM (SELECT * FROM runs ORDER BY version DESC LIMIT 1 BY run)`,
	"message_facts": `SELECT sum(cityHash64(* EXCEPT (expires_at))), count() FROM (SELECT * FROM message_facts LIMIT 1 BY unit, hash)`,
}

// TestStatisticsAndFindingsDoNotChangeWithSampling sends the recorded runs through
// a policy that keeps all content and one that keeps none of read-only steps, lets
// what was left out expire, and judges again.
func TestStatisticsAndFindingsDoNotChangeWithSampling(t *testing.T) {
	all := readReal(t)
	want, whole := sampled(t, all, "1.0")
	got, kept := sampled(t, all, "0.0")
	require.Equal(t, want, got)
	require.Less(t, kept, whole*9/10, "content was left out")
	require.NotZero(t, want["findings"][1])
	t.Logf("bodies: %d with all content, %d with none of read-only steps; findings %d, attempts %d", whole, kept, want["findings"][1], want["attempts"][1])
}

func sampled(t *testing.T, all []ptrace.Traces, share string) (out map[string][2]uint64, bodies uint64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	text := strings.Replace(string(policy.Demo()), "read_content: 1.0", "read_content: "+share, 1)
	require.Contains(t, text, "read_content: "+share)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	t.Setenv("STEPTRAIL_REDACTION_KEY", "0123456789abcdef0123456789abcdef")
	e := enginetest.Start(t)
	s, err := store.Open(t.Context(), e.Options(), store.Config{Database: e.Database})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	ex, err := newExporter(exportertest.NewNopSettings(Type), createDefaultConfig().(*Config))
	require.NoError(t, err)
	ex.storage = &fakeStorage{store: s}
	for _, td := range annotateWith(t, all, file) {
		req, err := ex.traces(t.Context(), td)
		require.NoError(t, err)
		require.NoError(t, ex.push(t.Context(), req))
	}
	p, err := policyfile.LoadKeyless(file)
	require.NoError(t, err)
	now := time.Now()
	judge := func() {
		_, err := sweep.New(s, p, sweep.Config{}).Range(t.Context(), now.Add(-time.Hour), time.Now().Add(time.Minute), time.Now().Add(time.Hour))
		require.NoError(t, err)
	}
	judge()
	// The grace term is over.
	require.NoError(t, e.Conn().Exec(t.Context(), "ALTER TABLE messages DELETE WHERE expires_at < now() + INTERVAL 2 DAY SETTINGS mutations_sync = 2"))
	judge()
	out = map[string][2]uint64{}
	for name, sql := range figures {
		var sum, rows uint64
		require.NoError(t, e.Conn().QueryRow(t.Context(), sql).Scan(&sum, &rows), name)
		out[name] = [2]uint64{sum, rows}
	}
	require.NoError(t, e.Conn().QueryRow(t.Context(), "SELECT count() FROM messages").Scan(&bodies))
	// Every span of a finding still has its content.
	var missing uint64
	require.NoError(t, e.Conn().QueryRow(t.Context(), `SELECT count() FROM (
			SELECT DISTINCT steps.unit AS unit, steps.arguments_ref AS ref FROM steps
			INNER JOIN (SELECT arrayJoin(arrayZip(evidence_traces, evidence_spans)) AS e FROM findings) AS f ON f.e = (steps.trace_id, steps.span_id)
			WHERE kind = 'read' AND arguments_ref != toFixedString('', 16))
		WHERE (unit, ref) NOT IN (SELECT unit, hash FROM messages)`).Scan(&missing))
	require.Zero(t, missing)
	return out, bodies
}
