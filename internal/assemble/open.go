package assemble

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// Judge looks at a run and gives all that it found. under gives the acts of
// other runs under a key, as far as they are in memory.
type Judge func(run *agent.Run, under func(key string) []agent.Act) []agent.Finding

// Moment is when a run is judged, in Unix nanoseconds.
type Moment struct {
	Now         int64
	LastArrival int64 // of the group that the run is in
}

// TimedJudge is a Judge that weighs time. again is when, in Unix nanoseconds, it
// wants to look at the run once more even though nothing came; 0: it does not.
type TimedJudge func(run *agent.Run, under func(key string) []agent.Act, at Moment) (found []agent.Finding, again int64)

// Limits bound what is kept.
type Limits struct {
	Bytes    int64         // all state; default 512 MiB
	Window   int           // newest steps of a run that are judged; default 1,000
	Keep     time.Duration // how long a group is kept after its last span; default 30 minutes
	Delay    time.Duration // longest wait of a span for its judgement in a run that grows span by span; default 600 ms
	Keys     int           // idempotency keys in memory; default 500,000
	Findings int           // ids of findings remembered as reported; default 200,000
}

func (l Limits) withDefaults() Limits {
	l.Bytes = cmp.Or(l.Bytes, 512<<20)
	l.Window = cmp.Or(l.Window, 1000)
	l.Keep = cmp.Or(l.Keep, 30*time.Minute)
	l.Delay = cmp.Or(l.Delay, 600*time.Millisecond)
	l.Keys = cmp.Or(l.Keys, 500_000)
	l.Findings = cmp.Or(l.Findings, 200_000)
	return l
}

// Batch is what came in one request, or in a part of it.
type Batch struct {
	Steps []*agent.Step // cloned as far as they are kept
	Facts map[agent.Ref]*agent.MessageFacts
	Logs  []agent.LogContent
}

// Verdict is what is known of one run that a batch touched.
type Verdict struct {
	Tenant   string
	Run      string
	Units    []string
	Late     bool            // the stream has stopped judging it; the sweep decides
	Findings []agent.Finding // all that hold as of the last judgement
	Fresh    []agent.Finding // those of them that were not reported before
}

// Stats counts what is kept and what was dropped since the start.
type Stats struct {
	Groups   int
	Steps    int
	Bytes    int64
	Keys     int
	Judged   int64 // judgements
	Evicted  int64 // groups dropped at the bound
	Expired  int64 // groups dropped after Limits.Keep
	Late     int64 // groups that are no longer judged
	Trimmed  int64 // steps dropped beyond the window
	KeysGone int64 // keys dropped at the bound
}

// Open is the set of open runs. It is not safe for concurrent use.
type Open struct {
	limits Limits
	judge  TimedJudge
	watch  *watchRules // nil: all that comes is judged
	tokens map[token]*group
	calls  map[callToken]callGroups
	keys   keyIndex
	known  known
	due    dueHeap
	// Groups in the order of their last arrival: those as they came, and, quiet
	// for longer, those that are packed.
	loose      lru
	looseBytes int64
	packed     lru
	stats      Stats
	dirty      []*group  // touched by the batch in hand
	fresh      []*string // room for the next step of a cold group
}

// New makes an empty set of open runs. Zero limits take their defaults.
func New(limits Limits, judge Judge) *Open {
	if judge == nil {
		return NewTimed(limits, nil)
	}
	return NewTimed(limits, func(run *agent.Run, under func(string) []agent.Act, _ Moment) ([]agent.Finding, int64) {
		return judge(run, under), 0
	})
}

// NewTimed is New with a judge that weighs time. Due calls it again when it asked
// for it.
func NewTimed(limits Limits, judge TimedJudge) *Open {
	l := limits.withDefaults()
	o := &Open{limits: l, judge: judge, tokens: map[token]*group{}, calls: map[callToken]callGroups{}}
	o.keys = newKeyIndex(l.Keys)
	o.known = newKnown(l.Findings)
	return o
}

// NewWatched is NewTimed for the detectors of package detect under a policy: a
// group is judged only where what came may complete a finding of theirs. The
// policy must be the judge's.
func NewWatched(limits Limits, p *policy.Policy, judge TimedJudge) *Open {
	o := NewTimed(limits, judge)
	o.watch = newWatchRules(p)
	return o
}

// Stats gives what is kept and what was dropped.
func (o *Open) Stats() Stats {
	s := o.stats
	s.Keys, s.KeysGone = len(o.keys.at), o.keys.dropped
	s.Bytes += o.keys.bytes
	return s
}

// Add takes in a batch and judges the runs it touches, or puts a judgement off
// by at most Limits.Delay where a long run grows span by span; Due then gives
// it. Spans that were here before change nothing and give the same findings
// again. The verdicts are ordered by tenant and run.
func (o *Open) Add(b Batch, now int64) []Verdict {
	o.dirty = o.dirty[:0]
	var last *group
	for _, s := range b.Steps {
		if s == nil {
			continue
		}
		last = o.place(s, last)
		o.insert(last, s, b.Facts, now)
	}
	for i := range b.Logs {
		o.placeLog(&b.Logs[i], b.Facts, now)
	}
	verdicts := o.settle(now)
	o.shrink()
	return verdicts
}

// settle judges what the batch touched.
func (o *Open) settle(now int64) []Verdict {
	var verdicts []Verdict
	for i := 0; i < len(o.dirty); i++ { // judging may add groups
		g := o.dirty[i]
		if g.gone {
			continue
		}
		g.marked = false
		if g.wanted && (g.hot || now >= g.deadline || o.watch == nil && g.pending*2 >= g.judged) || g.isAwaited(now) {
			o.judgeGroup(g, now)
		}
		o.schedule(g)
		verdicts = append(verdicts, o.report(g)...)
	}
	slices.SortFunc(verdicts, compareVerdicts)
	return verdicts
}

func compareVerdicts(x, y Verdict) int {
	return cmp.Or(strings.Compare(x.Tenant, y.Tenant), strings.Compare(x.Run, y.Run))
}

// report gives the findings of a group and marks them as reported.
func (o *Open) report(g *group) []Verdict {
	for i := range g.verdicts {
		v := &g.verdicts[i]
		v.Fresh = nil
		for _, f := range v.Findings {
			if o.known.add(f.ID) {
				v.Fresh = append(v.Fresh, f)
			}
		}
	}
	return slices.Clone(g.verdicts)
}

// touch marks a group as one that the batch in hand concerns.
func (o *Open) touch(g *group) {
	if !g.marked && !g.gone {
		g.marked = true
		o.dirty = append(o.dirty, g)
	}
}

// Due judges what waited for it and drops what was quiet for long. Call it
// about as often as Limits.Delay.
func (o *Open) Due(now int64) []Verdict {
	o.dirty = o.dirty[:0]
	for len(o.due) > 0 && o.due[0].due <= now {
		g := o.due[0]
		heap.Pop(&o.due)
		switch {
		case g.wanted || g.isAwaited(now):
			o.touch(g)
		case g.touched+int64(o.limits.Keep) <= now:
			o.stats.Expired++
			o.let(g)
		default:
			o.schedule(g)
		}
	}
	return o.settle(now)
}

// schedule sets when Due looks at a group again: for its judgement, or for its
// end.
func (o *Open) schedule(g *group) {
	at := g.touched + int64(o.limits.Keep)
	if g.wanted {
		at = g.deadline
	}
	if g.again != 0 && !g.late && g.size() > 0 {
		at = min(at, g.again)
	}
	switch {
	case g.gone:
	case g.place < 0:
		g.due = at
		heap.Push(&o.due, g)
	case at < g.due: // one that is early looks again then
		g.due = at
		heap.Fix(&o.due, g.place)
	}
}

// shrink packs what is quiet and drops what was quiet longest until the bound is
// kept: keys where they take more than half of it, else groups.
func (o *Open) shrink() {
	for o.looseBytes > o.limits.Bytes/looseShare && o.loose.oldest != o.loose.newest {
		o.pack(o.loose.oldest)
	}
	for o.stats.Bytes+o.keys.bytes > o.limits.Bytes {
		oldest := o.packed.oldest
		if oldest == nil {
			oldest = o.loose.oldest
		}
		switch {
		case o.keys.bytes > o.limits.Bytes/2 || oldest == nil:
			if !o.keys.dropOldest() {
				return
			}
		default:
			o.stats.Evicted++
			o.let(oldest)
		}
	}
}

// looseShare is which part of the bound groups may take as they came.
const looseShare = 8

// pack keeps a group as one string until something of it arrives.
func (o *Open) pack(g *group) {
	var text string
	n := g.size()
	if g.cold != nil {
		text = g.cold.text(g.facts)
	} else {
		text = pack(g.steps, g.facts)
	}
	o.grow(g, int64(len(text))-g.looseSize()-g.chilled-g.watched)
	g.cold, g.chilled = nil, 0
	g.flagged, g.watch, g.watched = g.isFlagged(), nil, 0
	o.looseBytes -= g.bytes
	o.loose.remove(g)
	o.packed.push(g)
	g.isPacked, g.packed, g.packedN = true, text, n
	g.steps, g.at, g.facts, g.context = nil, nil, nil, nil
}

// loosen undoes pack, and warms what is cold.
func (o *Open) loosen(g *group) {
	if g.cold != nil {
		if g.size() > g.cutAt(o.limits.Window) {
			o.trim(g)
		}
		o.warm(g)
		return
	}
	if !g.isPacked {
		return
	}
	o.packed.remove(g)
	o.loose.push(g)
	o.looseBytes += g.bytes
	text := g.packed
	g.isPacked, g.packed, g.packedN = false, "", 0
	g.steps, g.facts = unpack(text)
	g.reindex()
	o.grow(g, g.looseSize()-int64(len(text)))
	if o.watch != nil {
		o.rewatch(g, g.flagged) // what is pending stays so
		g.watch.due = 0
	}
}

// looseSize is what steps and facts take as they came.
func (g *group) looseSize() (n int64) {
	for _, s := range g.steps {
		n += sizeOf(s)
	}
	for _, f := range g.facts {
		n += factSize(f)
	}
	return n
}
