package agent

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// request is a call that a model asked for.
type request struct {
	call   *RequestedCall
	key    answerKey
	model  int32 // the candidate that asked
	pos    int   // position in its answer
	lane   int32
	used   bool  // a span of it is here
	waited bool  // the last of them only waited: the execution may still come
	cand   int32 // the last of them; -1 for none
	answer *answered
}

// answerKey names a requested call: by its id, else by the message that asked
// and the position in it.
type answerKey struct {
	id  string
	ref Ref
	pos int
}

// answered is an answer to a call as a model input shows it.
type answered struct {
	answer *CallAnswer
	model  int32 // the candidate that read it; byAgent for an agent's record
	lane   int32
	time   int64 // when it was there
}

// byAgent stands for the conversation that an agent's span records: it comes
// after every model call.
const byAgent = math.MaxInt32

// tie connects requested calls, their executions and their answers
// (conventions, "Request and execution"), and finds new user messages.
func (b *builder) tie() {
	if len(b.a.in.Facts) == 0 {
		return
	}
	b.collectRequests()
	answers := b.scanInputs()
	b.tieByID()
	b.tieByOrder()
	b.tieHandoffs()
	b.standIns(answers)
	b.fillFromRecords(answers)
}

func (b *builder) collectRequests() {
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || c.op != OpModel || c.early {
			continue
		}
		for _, at := range b.sources(c) {
			n := len(b.requests)
			pos := 0
			for _, r := range b.a.outputs(b.a.steps[at]) {
				f := b.a.facts(r)
				if f == nil {
					continue
				}
				for p := range f.Calls {
					call := &f.Calls[p]
					key := answerKey{id: call.ID}
					if call.ID == "" {
						key = answerKey{ref: r, pos: p}
					}
					b.requests = append(b.requests, request{call: call, key: key, model: int32(i), pos: pos, lane: c.lane, cand: noSpan})
					pos++
				}
			}
			if len(b.requests) > n {
				break // its other spans show the same answer
			}
		}
	}
}

// baseTool is a tool's name without the prefix of a server or plugin.
func baseTool(name string) string {
	if i := strings.LastIndexAny(name, "-./:"); i >= 0 && i < len(name)-1 {
		name = name[i+1:]
	}
	if i := strings.LastIndex(name, "__"); i >= 0 && i < len(name)-2 {
		name = name[i+2:]
	}
	return name
}

func (b *builder) tieByID() {
	var byID map[string][]int32
	for n := range b.requests {
		if id := b.requests[n].call.ID; id != "" {
			if byID == nil {
				byID = make(map[string][]int32, len(b.requests))
			}
			byID[id] = append(byID[id], int32(n))
		}
	}
	if byID == nil {
		return
	}
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || c.callID == "" || (c.op != OpTool && c.op != OpHandoff && c.op != OpRetrieval) {
			continue
		}
		if n := b.pickByID(byID[c.callID], c); n >= 0 {
			b.tieTo(n, int32(i))
		}
	}
}

// lookBack is how many requests a span is compared with: open ones of its tool
// before it, or, on either side, those with its call id.
const lookBack = 64

// pickByID chooses among the requests with the call's id: its tool, own lane
// first, one without an execution first, then the latest before it.
func (b *builder) pickByID(list []int32, c *cand) int32 {
	best, rank := int32(noSpan), -1
	// Where an id comes again and again, those around the call.
	from, _ := slices.BinarySearchFunc(list, c.start, func(n int32, start int64) int {
		return cmp.Or(cmp.Compare(b.cands[b.requests[n].model].start, start), -1)
	})
	for _, n := range list[max(0, from-lookBack):min(len(list), from+lookBack)] {
		r := &b.requests[n]
		if c.tool != "" && r.call.Tool != "" && !sameTool(c.tool, r.call.Tool) {
			continue
		}
		v := 0
		if !r.used {
			v += 2
		}
		if b.cands[r.model].start <= c.start {
			v++
		}
		if r.lane == c.lane {
			v += 4
		}
		if v >= rank {
			best, rank = n, v
		}
	}
	return best
}

// tieTo ties an execution to its request. The last execution of a request has
// its answer.
func (b *builder) tieTo(n, i int32) {
	r, c := &b.requests[n], &b.cands[i]
	c.request = r.call
	r.used, r.cand = true, i
	r.waited = c.waits || b.sign(c) == SignDeferred
	if c.callID == "" {
		c.callID = r.call.ID
	}
	if c.tool == "" {
		c.tool = r.call.Tool
	}
	if c.args.State != RecordedYes && r.call.Arguments.State == RecordedYes {
		c.args = r.call.Arguments
	}
}

// tieByOrder: a tool span without a call id executes a request of its tool by
// the latest model answer before it that has one without an execution, in its
// lane, else in the run: equal arguments first, then in order. So does one with
// an id, where requests are recorded without.
func (b *builder) tieByOrder() {
	var byTool map[string][]int32
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || c.request != nil || c.op != OpTool || c.tool == "" {
			continue
		}
		if byTool == nil {
			byTool = map[string][]int32{}
			for n := range b.requests {
				t := baseTool(b.requests[n].call.Tool)
				byTool[t] = append(byTool[t], int32(n))
			}
		}
		list := byTool[baseTool(c.tool)]
		for _, from := range [...]openFrom{{ownLane: true, ended: true}, {ownLane: true}, {ended: true}, {}} {
			if n := b.pickOpen(list, c, from); n >= 0 {
				b.tieTo(n, int32(i))
				break
			}
		}
	}
}

// openFrom says which requests an execution may be of.
type openFrom struct {
	ownLane bool // of its lane only
	ended   bool // of answers that had come, not of those that were still streamed
}

// isItemID: the id of an item of OpenAI's Responses, which some clients record of
// a call in place of its call id. Nothing that executes or answers it has it.
func isItemID(id string) bool { return strings.HasPrefix(id, "fc_") }

func (b *builder) pickOpen(list []int32, c *cand, from openFrom) int32 {
	best := int32(noSpan)
	seen := 0
	for k := len(list) - 1; k >= 0 && seen < lookBack; k-- {
		r := &b.requests[list[k]]
		if asked := &b.cands[r.model]; asked.start > c.start || from.ended && !isAfter(c.start, asked.end) {
			continue
		}
		seen++
		if r.used && !r.waited || (from.ownLane && r.lane != c.lane) || !sameTool(r.call.Tool, c.tool) || c.callID != "" && r.call.ID != "" && !isItemID(r.call.ID) {
			continue
		}
		if best >= 0 && b.requests[best].model != r.model {
			break // an earlier answer
		}
		if r.call.Arguments.Digest.Same(c.args.Digest) {
			// The first of several equal ones: they are executed in order.
			best = list[k]
			for k--; k >= 0; k-- {
				q := &b.requests[list[k]]
				if q.model != r.model {
					break
				}
				if (!q.used || q.waited) && q.lane == r.lane && q.call.Arguments.Digest.Same(c.args.Digest) {
					best = list[k]
				}
			}
			return best
		}
		best = list[k]
	}
	return best
}

// tieHandoffs: the request and the span of one hand-off are one, under whatever
// name the span stands.
func (b *builder) tieHandoffs() {
	var open []int32
	for n := range b.requests {
		if r := &b.requests[n]; !r.used && isHandoffName(r.call.Tool) {
			open = append(open, int32(n))
		}
	}
	if len(open) == 0 {
		return
	}
	start := func(n int32) int64 { return b.cands[b.requests[n].model].start }
	slices.SortStableFunc(open, func(n, m int32) int { return cmp.Compare(start(n), start(m)) })
	var asked []int32 // before the hand-off and not taken up, the latest last
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || c.op != OpHandoff || c.request != nil {
			continue
		}
		for len(open) > 0 && start(open[0]) <= c.start {
			asked, open = append(asked, open[0]), open[1:]
		}
		if last := len(asked) - 1; last >= 0 {
			b.tieTo(asked[last], int32(i))
			asked = asked[:last]
		}
	}
}

// maxAnswers is how many answers under one key are looked at for a request.
const maxAnswers = 256

// answerIn is the answer to a request among those under its key, which are in
// order: the first one after it in its lane, or behind receipts the last, else the
// first after it.
func answerIn(list []answered, r *request) (found *answered) {
	from, _ := slices.BinarySearchFunc(list, r.model, func(x answered, model int32) int { return cmp.Or(cmp.Compare(x.model, model), -1) })
	list = list[from:min(len(list), from+maxAnswers)]
	for k := range list {
		if x := &list[k]; x.lane == r.lane {
			if found = x; x.answer.Sign != SignReceipt {
				break
			}
		}
	}
	if found == nil && len(list) > 0 {
		found = &list[0]
	}
	return found
}

// standIns gives each request its answer, and each execution that of its
// request.
func (b *builder) standIns(answers map[answerKey][]answered) {
	for n := range b.requests {
		r := &b.requests[n]
		found := answerIn(answers[r.key], r)
		if found == nil {
			continue
		}
		r.answer = found
		if r.cand >= 0 {
			c := &b.cands[r.cand]
			c.answer = found.answer
			if c.result.State != RecordedYes && found.answer.Result.State == RecordedYes {
				c.shown = found.answer.Result
			}
		}
	}
}
