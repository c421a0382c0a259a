package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/internal/store"
)

func TestRetentionShowWritesALineForEachTerm(t *testing.T) {
	due := []store.Due{
		{Table: "steps", Class: "act", Tenant: "acme", Week: "2026-06-01", First: 1780300000, Last: 1780312800, Rows: 12, Bytes: 3400},
		{Table: "runs", Tenant: "evil\x1b[2J", Week: "2105-12-28", Held: true, Rows: 1, Bytes: 80},
	}
	var out bytes.Buffer
	require.NoError(t, writeDue(&out, due))
	require.Equal(t, `TABLE  CLASS  TENANT         WEEK        GOES                  ROWS  BYTES
steps  act    acme           2026-06-01  2026-06-01T11:20:00Z  12    3400
runs   -      "evil\x1b[2J"  2105-12-28  held                  1     80
`, out.String())
	out.Reset()
	require.NoError(t, writeDueJSON(&out, due))
	var got struct {
		Due []map[string]any `json:"due"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Equal(t, "2026-06-01T11:20:00Z", got.Due[0]["goes"])
	require.NotContains(t, got.Due[1], "goes")
	out.Reset()
	require.NoError(t, writeDue(&out, nil))
	require.Equal(t, "nothing is stored\n", out.String())
}

func TestContentThatAFindingKeptIsNotLeftOutAgain(t *testing.T) {
	p, err := policy.Parse([]byte(`version: 1
redaction: {mode: pseudonym, key: "0123456789abcdef", detectors: [email]}
retention: {act: 9d, human: 9d, think: 9d, read: 9d, content: 8d, findings: 9d, access_log: 9d}
sampling: {read_content: 0, grace: 1d}
`), nil)
	require.NoError(t, err)
	start := time.Now().Unix()
	for days, want := range map[int64]int64{1: 1, 8: 8} {
		s := &agent.Step{Kind: agent.KindRead, Unit: "u", Start: start * 1e9, Received: start * 1e9, ContentExpires: start + days*86400}
		row, content := termsOf(p)(s)
		require.Equal(t, []int64{start + 9*86400, start + want*86400}, []int64{row, content})
	}
}
