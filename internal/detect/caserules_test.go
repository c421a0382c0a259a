package detect_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// casesOfTheRules unpacks the project's own labelled cases: for each rule runs on
// both sides of it, and runs drawn at random with the labels of a naive reading.
func casesOfTheRules(t *testing.T) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "cases-rules.tar.gz"))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	plain, err := gzip.NewReader(f)
	require.NoError(t, err)
	folder := t.TempDir()
	for in := tar.NewReader(plain); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return folder
		}
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(h.Name)), text, 0o600))
	}
}

func TestTheCasesOfTheRulesGetTheirLabels(t *testing.T) {
	folder := casesOfTheRules(t)
	scoreFolder(t, folder, 1, 0)
	scoreFolder(t, folder, 5, 4)
}

// onlyQuietTells are cases in which the sweep knows more than the stream can: that
// a parent, or the end of an act, does not come any more.
var onlyQuietTells = map[string]bool{"rep-missing-parents": true, "gate-new-no-end-forbidden": true}

func TestTheStreamEndsWithTheFindingsOfTheSweepOnTheCasesOfTheRules(t *testing.T) {
	for _, c := range loadCases(t, casesOfTheRules(t)) {
		if onlyQuietTells[c.Name] {
			continue
		}
		t.Run(c.Name, func(t *testing.T) { requireAgreement(t, &scenario{caseFile: c, later: time.Minute}, 1) })
	}
}

func TestNoFindingOfTheCasesOfTheRulesIsMissedByWatching(t *testing.T) {
	for _, c := range loadCases(t, casesOfTheRules(t)) {
		t.Run(c.Name, func(t *testing.T) {
			m := spanMaker{c: &c, base: scenarioBase}
			p := process(t, policyText(t, []caseFile{c}, "5m"), requests(m.convert(), 1, nil))
			for seed := range uint64(2) {
				requireWatched(t, p, seed)
			}
		})
	}
}
