package assemble_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/assemble"
	"github.com/steptrail/steptrail/internal/detect"
)

func judge(run *agent.Run, under func(string) []agent.Act) []agent.Finding {
	return detect.Run(detect.Input{Run: run, Under: under})
}

func traceOf(name string) (id agent.TraceID) {
	copy(id[:], name)
	return id
}

// span makes a span of a run that lasts 10 ms from a start in ms.
func span(trace string, n int, start int64) *agent.Step {
	s := &agent.Step{
		Tenant: "acme", Trace: traceOf(trace), Span: agent.SpanID{1, byte(n), byte(n >> 8), byte(n >> 16)}, Service: "svc", Index: -1,
		Start: start * 1e6, End: start*1e6 + 10e6, Sign: agent.SignOK,
	}
	s.Unit = s.Trace.String()
	return s
}

func act(trace string, n int, start int64, key string) *agent.Step {
	s := span(trace, n, start)
	s.Op, s.Kind, s.KindSource = agent.OpTool, agent.KindAct, agent.KindSourcePolicy
	s.Call = agent.Call{Tool: "pay", Key: key}
	return s
}

func in(run string, s *agent.Step) *agent.Step {
	s.RunID, s.Unit = run, run
	return s
}

// steps puts steps into a batch.
func steps(list ...*agent.Step) assemble.Batch { return assemble.Batch{Steps: list} }

// kinds names what verdicts hold: RUN:KIND, sorted.
func kinds(verdicts []assemble.Verdict) (all []string) {
	for _, v := range verdicts {
		for _, f := range v.Findings {
			all = append(all, v.Run+":"+f.Kind)
		}
	}
	slices.Sort(all)
	return all
}

func fresh(verdicts []assemble.Verdict) (n int) {
	for _, v := range verdicts {
		n += len(v.Fresh)
	}
	return n
}

func TestAKeyThatTookEffectTwiceIsFoundWithTheSpanThatCompletesIt(t *testing.T) {
	o := assemble.New(assemble.Limits{}, judge)
	require.Empty(t, kinds(o.Add(steps(in("R", act("t", 1, 0, "k"))), 0)))
	got := o.Add(steps(in("R", act("t", 2, 50, "k"))), 1)
	require.Equal(t, []string{"R:key.duplicate"}, kinds(got))
	require.Equal(t, 1, fresh(got))
}

func TestItIsFoundAtOnceInALongRunThatGrowsSpanBySpan(t *testing.T) {
	o := assemble.New(assemble.Limits{}, judge)
	o.Add(steps(in("R", act("t", 1, 0, "k"))), 0)
	for i := range 500 {
		o.Add(steps(in("R", act("t", 10+i, int64(i+1)*100, fmt.Sprint("other", i)))), int64(i))
	}
	require.Equal(t, []string{"R:key.duplicate"}, kinds(o.Add(steps(in("R", act("t", 2, 99_999, "k"))), 501)))
}

func TestASpanThatArrivesAgainGivesTheSameFindingsAndNoneIsNew(t *testing.T) {
	o := assemble.New(assemble.Limits{}, judge)
	batch := steps(in("R", act("t", 1, 0, "k")), in("R", act("t", 2, 50, "k")))
	first := o.Add(batch, 0)
	again := o.Add(steps(batch.Steps[1]), 1)
	require.Equal(t, 1, fresh(first))
	require.Zero(t, fresh(again))
	require.Equal(t, first[0].Findings, again[0].Findings)
	require.Equal(t, 2, o.Stats().Steps)
}

func TestAKeyUsedByTwoRunsIsFoundWhicheverComesFirst(t *testing.T) {
	early, late := in("R1", act("t1", 1, 0, "k")), in("R2", act("t2", 1, 500, "k"))
	for _, order := range [][]*agent.Step{{early, late}, {late, early}} {
		o := assemble.New(assemble.Limits{}, judge)
		o.Add(steps(order[0]), 0)
		got := o.Add(steps(order[1]), 1)
		require.Equal(t, []string{"R2:key.duplicate"}, kinds(got), "the run of the later act carries it")
		require.Equal(t, 1, fresh(got))
	}
}

func TestTenantsDoNotShareKeysTracesOrRuns(t *testing.T) {
	o := assemble.New(assemble.Limits{}, judge)
	a, b := in("R", act("t", 1, 0, "k")), in("R", act("t", 2, 50, "k"))
	b.Tenant = "beta"
	require.Empty(t, kinds(o.Add(steps(a, b), 0)))
	require.Equal(t, 2, o.Stats().Groups)
}

func TestARunInTwoTracesIsOneGroupEvenIfTheRootAloneTells(t *testing.T) {
	o := assemble.New(assemble.Limits{}, judge)
	root := in("R", span("t2", 9, 40))
	root.Op, root.Agent = agent.OpAgent, "desk"
	child := act("t2", 2, 50, "k")
	child.Parent = root.Span
	o.Add(steps(in("R", act("t1", 1, 0, "k"))), 0)
	got := o.Add(steps(child), 1)
	require.Equal(t, []string{child.Unit + ":key.duplicate"}, kinds(got), "a run of its own, as far as seen")
	got = o.Add(steps(root), 2)
	require.Equal(t, []string{"R:key.duplicate"}, kinds(got))
	require.Equal(t, 1, o.Stats().Groups)
}

func TestACallThatOneTraceAsksForAndAnotherRunsIsOneGroup(t *testing.T) {
	ask := &agent.MessageFacts{Ref: agent.Ref{1}, Calls: []agent.RequestedCall{{ID: "c1", Tool: "pay"}}}
	model := span("t1", 1, 0)
	model.Op, model.Model.Outputs = agent.OpModel, []agent.Ref{ask.Ref}
	tool := act("t2", 2, 50, "")
	tool.Call.ID = "c1"
	asked := assemble.Batch{Steps: []*agent.Step{model}, Facts: map[agent.Ref]*agent.MessageFacts{ask.Ref: ask}}
	for _, order := range [][]assemble.Batch{{asked, steps(tool)}, {steps(tool), asked}} {
		o := assemble.New(assemble.Limits{}, judge)
		for i, b := range order {
			o.Add(b, int64(i))
		}
		require.Equal(t, 1, o.Stats().Groups)
	}
}

// Runs that are played again, from a cache or a recording, have the call ids of
// the first. Each asks and runs its calls itself.
func TestRunsWithEqualCallIDsThatEachRunTheirOwnStayApart(t *testing.T) {
	ask := &agent.MessageFacts{Ref: agent.Ref{1}, Calls: []agent.RequestedCall{{ID: "c1", Tool: "pay"}}}
	answer := &agent.MessageFacts{Ref: agent.Ref{2}, Answers: []agent.CallAnswer{{ID: "c1"}}}
	facts := map[agent.Ref]*agent.MessageFacts{ask.Ref: ask, answer.Ref: answer}
	o := assemble.New(assemble.Limits{}, judge)
	for i := range 20 {
		trace := fmt.Sprint("t", i)
		first, tool, second := span(trace, 1, 0), act(trace, 2, 50, ""), span(trace, 3, 100)
		first.Op, first.Model.Context, first.Model.Outputs = agent.OpModel, []agent.Ref{{9}}, []agent.Ref{ask.Ref}
		tool.Call.ID = "c1"
		second.Op, second.Model.Context = agent.OpModel, []agent.Ref{{9}, ask.Ref, answer.Ref}
		for _, s := range []*agent.Step{first, tool, second} {
			o.Add(assemble.Batch{Steps: []*agent.Step{s}, Facts: facts}, int64(i))
		}
	}
	require.Equal(t, 20, o.Stats().Groups)
}

func TestAJudgementThatWasPutOffIsDueInTime(t *testing.T) {
	delay := 100 * time.Millisecond
	o := assemble.New(assemble.Limits{Delay: delay}, func(r *agent.Run, _ func(string) []agent.Act) []agent.Finding {
		if len(r.Steps) < 101 {
			return nil
		}
		return []agent.Finding{{Kind: "test", Run: r.ID, ID: agent.NewFindingID(r.Tenant, r.ID, "test", "")}}
	})
	var batch assemble.Batch
	for i := range 100 {
		batch.Steps = append(batch.Steps, act("t", i, int64(i), ""))
	}
	require.Empty(t, kinds(o.Add(batch, 0)))
	require.Empty(t, kinds(o.Add(steps(act("t", 100, 100, "")), 10)))
	require.Empty(t, o.Due(10))
	require.Equal(t, 1, fresh(o.Due(10+int64(delay))))
	require.Empty(t, o.Due(20+int64(delay)))
}

func TestAQuietGroupIsForgottenAndItsKeysAreNot(t *testing.T) {
	o := assemble.New(assemble.Limits{Keep: time.Second}, judge)
	o.Add(steps(in("R1", act("t1", 1, 0, "k"))), 0)
	o.Due(int64(2 * time.Second))
	require.Zero(t, o.Stats().Groups)
	require.EqualValues(t, 1, o.Stats().Expired)
	require.Equal(t, []string{"R2:key.duplicate"}, kinds(o.Add(steps(in("R2", act("t2", 1, 500, "k"))), int64(3*time.Second))))
}

func TestOnlyTheNewestStepsOfALongRunAreKeptWithTheirAgent(t *testing.T) {
	var last *agent.Run
	o := assemble.New(assemble.Limits{Window: 100}, func(r *agent.Run, _ func(string) []agent.Act) []agent.Finding {
		last = r
		return nil
	})
	root := span("t", 0, 0)
	root.Op, root.Agent = agent.OpAgent, "desk"
	o.Add(steps(root), 0)
	for i := 1; i <= 1000; i += 10 {
		var b assemble.Batch
		for k := range 10 {
			s := act("t", i+k, int64(i+k)*10, "")
			s.Parent = root.Span
			b.Steps = append(b.Steps, s)
		}
		o.Add(b, int64(i))
	}
	o.Due(int64(time.Minute))
	require.LessOrEqual(t, o.Stats().Steps, 152)
	require.GreaterOrEqual(t, len(last.Steps), 100)
	require.Equal(t, "desk", last.Agent)
	require.Equal(t, "desk", last.Steps[0].LaneName)
}

func TestASpanFromBeforeTheWindowMarksTheRunLate(t *testing.T) {
	o := assemble.New(assemble.Limits{Window: 50}, judge)
	for i := range 200 {
		o.Add(steps(act("t", i+1, int64(i+10)*10, "")), int64(i))
	}
	got := o.Add(steps(act("t", 999, 1, "")), 300)
	require.Len(t, got, 1)
	require.True(t, got[0].Late)
	require.EqualValues(t, 1, o.Stats().Late)
	require.Zero(t, o.Stats().Steps)
}

func TestWhatIsKeptSharesNoMemoryWithTheRequest(t *testing.T) {
	var last *agent.Run
	o := assemble.New(assemble.Limits{}, func(r *agent.Run, _ func(string) []agent.Act) []agent.Finding {
		last = r
		return nil
	})
	s := in("R", act("t", 1, 0, "k"))
	s.Attributes = []agent.Attr{{Key: "a", Value: "b"}}
	s.Model.Context = []agent.Ref{{1}}
	o.Add(steps(s), 0)
	s.Call.Tool, s.Model.Context[0] = "changed", agent.Ref{2}
	kept := last.Spans[0]
	require.NotSame(t, s, kept)
	require.Equal(t, "pay", kept.Call.Tool)
	require.Equal(t, agent.Ref{1}, kept.Model.Context[0])
	require.Nil(t, kept.Attributes, "what is not judged is not kept")
}

// TestAnyOrderSplitAndRepetitionEndsInTheSameFindings: whatever way the spans of
// some runs come in, what holds in the end is the same, and equal to what one
// look at all of them finds.
func TestAnyOrderSplitAndRepetitionEndsInTheSameFindings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []*agent.Step
		for i := range rapid.IntRange(1, 12).Draw(t, "spans") {
			s := act(rapid.SampledFrom([]string{"t1", "t2", "t3"}).Draw(t, "trace"), i, int64(rapid.IntRange(0, 9).Draw(t, "start"))*20,
				rapid.SampledFrom([]string{"k1", "k2", ""}).Draw(t, "key"))
			if rapid.Bool().Draw(t, "explicit") {
				s = in(rapid.SampledFrom([]string{"R1", "R2"}).Draw(t, "run"), s)
			}
			if rapid.IntRange(0, 5).Draw(t, "linked") == 0 {
				s.Links = []agent.Link{{Trace: traceOf(rapid.SampledFrom([]string{"t1", "t2"}).Draw(t, "link"))}}
			}
			s.Call.Target = rapid.SampledFrom([]string{"x", "y", ""}).Draw(t, "target")
			all = append(all, s)
		}
		want := sweep(all)
		for seed := range uint64(4) {
			require.Equal(t, want, stream(all, seed), "seed %d", seed)
		}
	})
}

// sweep judges all runs at one look.
func sweep(all []*agent.Step) (ids []string) {
	runs := agent.Runs(agent.Input{Steps: all})
	var acts []agent.Act
	for _, r := range runs {
		acts = append(acts, agent.Acts(r)...)
	}
	for _, r := range runs {
		for _, f := range judge(r, func(key string) (under []agent.Act) {
			for _, a := range acts {
				if a.Key == key && a.Run != r.ID {
					under = append(under, a)
				}
			}
			return under
		}) {
			ids = append(ids, r.ID+":"+f.Anchor+":"+f.Message)
		}
	}
	slices.Sort(ids)
	return ids
}

// stream adds the steps in random order, split and repetition and gives what
// holds in the end.
func stream(all []*agent.Step, seed uint64) (ids []string) {
	r := rand.New(rand.NewPCG(seed, 3))
	list := slices.Clone(all)
	for range r.IntN(len(all) + 1) {
		list = append(list, all[r.IntN(len(all))])
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	o := assemble.New(assemble.Limits{Bytes: []int64{0, 200_000}[r.IntN(2)]}, judge) // the smaller one packs
	now := int64(0)
	for len(list) > 0 {
		n := 1 + r.IntN(len(list))
		o.Add(steps(list[:n]...), now)
		list = list[n:]
		now += int64(r.IntN(300)) * 1e6
		o.Due(now)
	}
	o.Due(now + 1e9)
	for _, s := range all { // a span that comes again gives what holds
		for _, v := range o.Add(steps(s), now+2e9) {
			for _, f := range v.Findings {
				ids = append(ids, v.Run+":"+f.Anchor+":"+f.Message)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func TestQuietGroupsArePackedAndJudgedAsBefore(t *testing.T) {
	o := assemble.New(assemble.Limits{Bytes: 1 << 20}, judge)
	for i := range 60 {
		o.Add(steps(in(fmt.Sprint("R", i), act(fmt.Sprint("t", i), 1, int64(i), fmt.Sprint("k", i)))), int64(i))
	}
	loose := o.Stats().Bytes
	for i := range 60 {
		got := o.Add(steps(in(fmt.Sprint("R", i), act(fmt.Sprint("t", i), 2, int64(1000+i), fmt.Sprint("k", i)))), int64(100+i))
		require.Equal(t, []string{fmt.Sprintf("R%d:key.duplicate", i)}, kinds(got))
	}
	require.Zero(t, o.Stats().Evicted)
	require.Less(t, o.Stats().Bytes, 2*loose)
}

// A run in which nothing can be a finding is never judged, however long it is.
func TestARunThatIsAsItShouldBeIsNotJudged(t *testing.T) {
	for _, n := range []int{20, 3000} {
		o := watchedOpen(t, assemble.Limits{})
		now := int64(0)
		addTogether(o, [][]*agent.Step{benchSteps("r", n)}, 3, &now)
		for range 30 {
			now += int64(time.Second)
			require.Empty(t, o.Due(now))
		}
		require.Zero(t, o.Stats().Judged)
	}
}

// Its keys are known to the runs that come after it all the same.
func TestAnActThatWasNeverJudgedIsKnownByItsKey(t *testing.T) {
	for name, wait := range map[string]time.Duration{"while its run is open": time.Second, "after it was let go": time.Hour} {
		t.Run(name, func(t *testing.T) {
			o := watchedOpen(t, assemble.Limits{})
			first, second := in("R1", act("t1", 1, 0, "k")), in("R2", act("t2", 1, 500, "k"))
			first.Call.Tool, second.Call.Tool = "refund", "refund"
			require.Empty(t, kinds(o.Add(steps(first), 0)))
			require.Zero(t, o.Stats().Judged)
			now := int64(wait)
			o.Due(now)
			require.Contains(t, kinds(o.Add(steps(second), now)), "R2:key.duplicate")
		})
	}
}
