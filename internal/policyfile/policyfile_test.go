package policyfile

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/policy"
)

const keyed = `version: 1
redaction: {mode: pseudonym, key: "${env:POLICYFILE_TEST_KEY}", detectors: [email]}
retention: {act: 1d, human: 1d, think: 1d, read: 1d, content: 1d, findings: 1d, access_log: 1d}
`

func TestTheDemoPolicyGetsAKeyOfItsOwnThatStaysTheSame(t *testing.T) {
	t.Setenv("STEPTRAIL_REDACTION_KEY", "")
	dir := filepath.Join(t.TempDir(), "data")
	keys := make([]string, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() { // ends by itself
			p, err := Load(Demo, dir)
			if err == nil {
				keys[i] = p.Redaction.Key.Reveal()
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		require.Len(t, k, 2*keyBytes)
		require.Equal(t, keys[0], k)
	}
	info, err := os.Stat(filepath.Join(dir, KeyFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestACheckMakesNoKeyAndUsesTheOneThatIsThere(t *testing.T) {
	t.Setenv("STEPTRAIL_REDACTION_KEY", "")
	dir := filepath.Join(t.TempDir(), "data")
	p, needsKey, err := Check(Demo, dir)
	require.NoError(t, err)
	require.True(t, needsKey)
	require.NoDirExists(t, dir)
	other, _, err := Check(Demo, dir)
	require.NoError(t, err)
	require.NotEqual(t, p.Redaction.Key.Reveal(), other.Redaction.Key.Reveal(), "nothing is pseudonymised under a key that others know")

	made, err := Load(Demo, dir)
	require.NoError(t, err)
	p, needsKey, err = Check(Demo, dir)
	require.NoError(t, err)
	require.False(t, needsKey)
	require.Equal(t, made.Redaction.Key.Reveal(), p.Redaction.Key.Reveal())

	_, _, err = Check(Demo, "")
	require.ErrorContains(t, err, "data_dir")
}

func TestAKeyInTheEnvironmentIsUsedAndNoneIsMade(t *testing.T) {
	t.Setenv("STEPTRAIL_REDACTION_KEY", "0123456789abcdef-of-the-environment")
	dir := t.TempDir()
	p, err := Load(Demo, dir)
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef-of-the-environment", p.Redaction.Key.Reveal())
	require.NoFileExists(t, filepath.Join(dir, KeyFile))
}

func TestAnyOtherPolicyWithoutAKeyIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(path, []byte(keyed), 0o600))
	_, err := Load(path, t.TempDir())
	require.ErrorIs(t, err, policy.ErrNoRedactionKey)
	p, err := LoadKeyless(path)
	require.NoError(t, err)

	t.Setenv("POLICYFILE_TEST_KEY", "0123456789abcdef")
	withKey, err := Load(path, "")
	require.NoError(t, err)
	require.Equal(t, withKey.Hash(), p.Hash(), "the key is no part of the hash")
}

func TestAKeyFileOthersCanReadOrThatIsTooShortIsRefused(t *testing.T) {
	t.Setenv("STEPTRAIL_REDACTION_KEY", "")
	dir := t.TempDir()
	path := filepath.Join(dir, KeyFile)
	require.NoError(t, os.WriteFile(path, []byte("0123456789abcdef"), 0o600))
	require.NoError(t, os.Chmod(path, 0o644))
	_, err := Load(Demo, dir)
	require.ErrorContains(t, err, "chmod 600")
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.WriteFile(path, []byte("short"), 0o600))
	_, err = Load(Demo, dir)
	require.ErrorContains(t, err, "holds 5 bytes")
}

func TestNoPolicyIsAnErrorThatSaysWhatToWrite(t *testing.T) {
	_, err := Load("", "")
	require.ErrorContains(t, err, "policy_file must be set")
	_, err = Load(filepath.Join(t.TempDir(), "none.yaml"), "")
	require.ErrorIs(t, err, os.ErrNotExist)
}
