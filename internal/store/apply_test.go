package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// termsFor are days from the start by kind; content a tenth of it.
func termsFor(act, read int64) func(*agent.Step) (row, content int64) {
	return func(s *agent.Step) (int64, int64) {
		days := act
		if s.Kind == agent.KindRead {
			days = read
		}
		row := s.Start/1e9 + days*24*3600
		return row, s.Start/1e9 + days*24*360
	}
}

// placed is a row of a table and when it expires, in days.
func expiresIn(t *testing.T, s *Store, table, column string) map[int64]uint64 {
	t.Helper()
	rows, err := s.conn.Query(t.Context(), "SELECT toInt64(round((toUnixTimestamp("+column+") - toUnixTimestamp(now())) / 86400)), count() FROM "+table+" GROUP BY 1")
	require.NoError(t, err)
	out := map[int64]uint64{}
	for rows.Next() {
		var days int64
		var n uint64
		require.NoError(t, rows.Scan(&days, &n))
		out[days] = n
	}
	require.NoError(t, rows.Err())
	return out
}

func TestMovedRowsHaveTheirNewTermsAndStandThereOnce(t *testing.T) {
	for name, interrupted := range map[string]bool{"in one go": false, "after it was interrupted": true} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			old, now := termsFor(100, 50), termsFor(300, 20)
			body := agent.Body{Ref: agent.Ref{1}, Text: "asked"}
			shared := agent.Body{Ref: agent.Ref{2}, Text: "shared"}
			act := span("u1", 1, 1, func(st *agent.Step) {
				st.Kind, st.Call.Arguments.Ref, st.Call.Result.Ref = agent.KindAct, body.Ref, shared.Ref
			})
			read := span("u1", 1, 2, func(st *agent.Step) { st.Kind, st.Call.Result.Ref, st.RunID = agent.KindRead, shared.Ref, "u1" })
			b := NewBatch()
			version := uint64(time.Now().UnixNano())
			for _, st := range []*agent.Step{act, read} {
				st.Expires, st.ContentExpires = old(st)
				body.Expires, shared.Expires = st.ContentExpires, st.ContentExpires
				bodies := []agent.Body{shared}
				if st == act {
					bodies = append(bodies, body)
				}
				b.AddSpan(st, bodies, []agent.MessageFacts{{Ref: shared.Ref, Role: agent.RoleTool}})
			}
			require.NoError(t, s.Insert(t.Context(), b))
			require.NoError(t, s.WriteDerived(t.Context(), version, agent.Derived{
				Acts:  []agent.Act{{Tenant: "acme", Unit: "u1", Run: "u1", Trace: act.Trace, Span: act.Span, Start: act.Start}},
				Links: []agent.RunLink{{Tenant: "acme", Unit: "u1", Run: "u1"}},
			}))
			_, err := s.CopyHeld(t.Context(), "acme", []string{"other"}, nil)
			require.NoError(t, err)

			planned, err := s.Move(t.Context(), "acme", []string{"u1"}, now, true)
			require.NoError(t, err)
			require.Equal(t, map[int64]uint64{100: 1, 50: 1}, expiresIn(t, s, "steps", "expires_at"), "to say so changes nothing")
			moved, err := s.Move(t.Context(), "acme", []string{"u1"}, now, false)
			require.NoError(t, err)
			require.Equal(t, planned, moved)
			require.Equal(t, int64(2), moved["steps"])
			if interrupted {
				again, err := s.Move(t.Context(), "acme", []string{"u1"}, now, false)
				require.NoError(t, err)
				require.NotNil(t, again)
			}
			units, err := s.MovedUnits(t.Context(), "acme")
			require.NoError(t, err)
			require.Equal(t, []string{"u1"}, units)
			require.NoError(t, s.FinishMove(t.Context(), "acme", version+1))

			require.Equal(t, map[int64]uint64{300: 1, 20: 1}, expiresIn(t, s, "(SELECT DISTINCT expires_at, span_id FROM steps)", "expires_at"))
			require.Equal(t, map[int64]uint64{30: 2}, expiresIn(t, s, "(SELECT DISTINCT expires_at, hash FROM messages)", "expires_at"), "as long as the longest that refers to it")
			for _, table := range []string{"message_facts", "unit_keys", "acts", "run_links"} {
				require.Equal(t, []int64{300}, keysOf(expiresIn(t, s, table, "expires_at")), table)
			}
			bodies, err := s.Tenant("acme").Bodies(t.Context(), []string{"u1"}, []agent.Ref{{1}, {2}})
			require.NoError(t, err)
			require.Equal(t, map[agent.Ref]string{{1}: "asked", {2}: "shared"}, bodies)
			in, _, err := s.Tenant("acme").RunInput(t.Context(), "u1")
			require.NoError(t, err)
			require.Len(t, in.Steps, 2)
			row, content := now(act)
			require.Equal(t, []int64{row, content}, []int64{in.Steps[0].Expires, in.Steps[0].ContentExpires})

			rest, err := s.Move(t.Context(), "acme", []string{"u1"}, now, false)
			require.NoError(t, err)
			require.Empty(t, rest, "done once, it changes nothing")
		})
	}
}

func keysOf(m map[int64]uint64) (out []int64) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

func TestFindingsMoveToTheirNewTerm(t *testing.T) {
	s := open(t)
	now := time.Now()
	f := agent.Finding{Tenant: "acme", Run: "r", ID: agent.FindingID{1}, Kind: "rule.x", Status: agent.StatusOpen, DetectedAt: now.UnixNano(), Expires: now.Add(100 * 24 * time.Hour).Unix()}
	before := f
	before.ID, before.DetectedAt = agent.FindingID{2}, now.Add(-48*time.Hour).UnixNano()
	require.NoError(t, s.WriteFindings(t.Context(), 3, []agent.Finding{f, before}))
	for range 2 {
		require.NoError(t, s.MoveFindings(t.Context(), "acme", now.Add(-time.Hour).UnixNano(), 10*24*3600))
		require.Equal(t, map[int64]uint64{10: 1, 100: 1}, expiresIn(t, s, "findings", "expires_at"))
	}
	found, err := s.FindingsOf(t.Context(), "acme", []string{"r"})
	require.NoError(t, err)
	require.Len(t, found, 2)
}
