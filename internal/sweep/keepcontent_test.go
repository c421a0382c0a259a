package sweep

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// look is a read that ends well, whose content sampling left out.
func look(s *agent.Step) {
	s.Op, s.Kind, s.Call.Tool, s.Outcome = agent.OpTool, agent.KindRead, "look", agent.OutcomeOK
	s.Received = s.Start
	s.Expires, s.ContentExpires = noon.Unix()+24*3600, noon.Unix()+3600
}

func TestContentThatAFindingPointsToIsKeptWhole(t *testing.T) {
	p, err := policy.Parse([]byte(policyText+"sampling: {read_content: 0, grace: 1h}\n"), nil)
	require.NoError(t, err)
	b := newBench(t)
	b.Sweeper = New(b.memStore, p, Config{})
	same := func(s *agent.Step) {
		look(s)
		s.Call.Arguments = agent.Content{State: agent.RecordedYes, Digest: agent.Digest{1}, Ref: agent.Ref{1}}
		s.Call.Result = agent.Content{State: agent.RecordedYes, Digest: agent.Digest{2}, Ref: agent.Ref{2}}
	}
	// r1 asks the same three times: a loop. r2 looks once.
	b.insert(noon, span("r1", 1, 1, 0, root), span("r1", 1, 2, 1, same), span("r1", 1, 3, 1, same), span("r1", 1, 4, 1, same))
	b.insert(noon, span("r2", 2, 1, 0, root), span("r2", 2, 2, 1, same))
	b.tick(noon.Add(20e9))
	require.Len(t, b.kept, 3)
	for _, k := range b.kept {
		require.Equal(t, "r1", k.Step.Unit)
		require.Equal(t, p.FullContent(k.Step), k.Until)
	}
	b.insert(noon.Add(30e9), span("r1", 1, 9, 1, root))
	b.tick(noon.Add(60e9))
	require.Len(t, b.kept, 3, "what is kept is not written again")
}
