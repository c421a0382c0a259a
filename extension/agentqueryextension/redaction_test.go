package agentqueryextension

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/query"
)

// under makes the redaction of a policy with these lines of redaction.
func under(t *testing.T, lines string) *redaction {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`version: 1
redaction: {key: "0123456789abcdef0123456789abcdef", `+lines+`}
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
`), 0o600))
	r, err := newRedaction(&Config{PolicyFile: path})
	require.NoError(t, err)
	return r
}

func TestWhatIsAskedForIsSpelledAsThePolicyStoresIt(t *testing.T) {
	const (
		mail    = "ann@example.com"
		keyed   = `^\[EMAIL:[0-9a-f]+\]$`
		pattern = "mode: pseudonym, detectors: [email]"
	)
	r := under(t, pattern)
	for _, field := range []query.Field{query.FieldUser, query.FieldTarget, query.FieldSession} {
		got, ok := r.Stored("default", field, mail)
		require.True(t, ok)
		require.Len(t, got, 1)
		require.Regexp(t, keyed, got[0])
		again, ok := r.Stored("default", field, got[0])
		require.True(t, ok)
		require.Equal(t, got, again, "what is stored is spelled so already")
		other, _ := r.Stored("other", field, mail)
		require.NotEqual(t, got, other, "tenants share no pseudonym")
		plain, ok := r.Stored("default", field, "jane")
		require.True(t, ok)
		require.Equal(t, []string{"jane"}, plain)
	}

	listed, ok := under(t, pattern+", keys: [user.id, session.id]").Stored("default", query.FieldUser, "jane")
	require.True(t, ok)
	require.Regexp(t, `^\[SECRET:[0-9a-f]+\]$`, listed[0])
	both, ok := under(t, pattern+", keys: [session.id]").Stored("default", query.FieldSession, "s-1")
	require.True(t, ok)
	require.Len(t, both, 2, "a session has two attributes, of which one is on the key list")
	target, ok := under(t, pattern+", targets: pseudonym").Stored("default", query.FieldTarget, "account/1")
	require.True(t, ok)
	require.Regexp(t, `^account/\[TARGET:[0-9a-f]+\]$`, target[0])

	masked := under(t, "mode: mask, detectors: [email]")
	_, ok = masked.Stored("default", query.FieldUser, mail)
	require.False(t, ok, "every address is stored as the same mask")
	target, ok = masked.Stored("default", query.FieldTarget, mail)
	require.True(t, ok, "targets are never masked")
	require.Regexp(t, keyed, target[0])
	text, ok := masked.Text("default", "ask "+mail)
	require.True(t, ok)
	require.Equal(t, "ask [EMAIL]", text)
}

func TestTheKeyIsTheProcessorsAndMadeWithTheStart(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	set(t, cfg)
	path := filepath.Join(cfg.DataDir, policyfile.KeyFile)
	_, err := newServer(extensiontest.NewNopSettings(Type), cfg)
	require.NoError(t, err)
	require.NoFileExists(t, path, "a collector that is only validated makes none")
	_, err = newRedaction(cfg)
	require.NoError(t, err)
	require.FileExists(t, path)

	cfg.PolicyFile = filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(cfg.PolicyFile, []byte(`version: 1
redaction: {mode: pseudonym, key: "${env:STEPTRAIL_NO_SUCH_KEY}", detectors: [email]}
retention: {act: 400d, human: 400d, think: 90d, read: 90d, content: 30d, findings: 400d, access_log: 400d}
`), 0o600))
	_, err = newServer(extensiontest.NewNopSettings(Type), cfg)
	require.ErrorIs(t, err, policy.ErrNoRedactionKey, "as in the processor: without its key nobody would be found")
}
