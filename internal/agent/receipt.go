package agent

import "slices"

// receipts decides the acts that brought only a receipt of a task (conventions,
// "Outcome"). A later response that names the task tells. Where none has, a
// receipt with anything beside it is taken for done, unless the tool has a
// reconcile_with: then, as for a bare one, nothing is known once no answer is
// awaited any more.
func (b *builder) receipts() {
	var taken []int32
	for i := range b.cands {
		c := &b.cands[i]
		if !c.gone && !c.noSpan && c.kind == KindAct && b.isReceipt(c) {
			taken = append(taken, int32(i))
		}
	}
	if len(taken) == 0 {
		return
	}
	told := b.tasks()
	for _, i := range taken {
		c := &b.cands[i]
		tasks := b.factsOf(c).Made
		switch status := told.last(tasks, c, b); {
		case status == TaskDone:
			c.outcome = OutcomeOK
		case status == TaskFailed:
			c.outcome = OutcomeError
		case (len(tasks) > 0 || !b.isBare(c)) && len(b.span(c).Call.ReconcileWith) == 0:
		case b.lost(c.lane, c.start):
			c.outcome = OutcomeUnknown
		default:
			c.outcome = OutcomeUnset
		}
	}
}

// isReceipt: nothing states its outcome, and all that it shows is a receipt.
func (b *builder) isReceipt(c *cand) bool {
	if c.outcome != OutcomeOK && c.outcome != OutcomeUnknown || c.answer != nil && c.answer.Sign != SignReceipt && c.answer.Sign != SignNone {
		return false
	}
	receipt := false
	for _, at := range b.members(c) {
		s := b.a.steps[at]
		if s.Outcome != OutcomeUnset || s.Sign != SignNone && s.Sign != SignOK && s.Sign != SignReceipt {
			return false
		}
		receipt = receipt || s.Sign == SignReceipt || taskOf(s.Facts) == TaskReceipt
	}
	return receipt
}

// isBare reports whether a receipt says nothing but that the call was taken.
func (b *builder) isBare(c *cand) bool {
	return c.answer != nil && c.answer.Sign == SignReceipt ||
		slices.ContainsFunc(b.members(c), func(at int32) bool { return b.a.steps[at].Sign == SignReceipt })
}

func (b *builder) factsOf(c *cand) CallFacts {
	for _, at := range b.members(c) {
		if f := b.a.steps[at].Facts; f != "" {
			return ParseCallFacts(f)
		}
	}
	return CallFacts{}
}

// taskNews are the responses that tell how a task stands, by its id, in order.
type taskNews map[Mark][]taskResponse

type taskResponse struct {
	cand   int32
	status TaskStatus
}

func (b *builder) tasks() taskNews {
	news := taskNews{}
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || c.noSpan || c.class != classTool && c.class != classReconcile {
			continue
		}
		status := TaskUnset
		for _, at := range b.members(c) {
			status = max(status, taskOf(b.a.steps[at].Facts))
		}
		if status != TaskDone && status != TaskFailed {
			continue
		}
		f := b.factsOf(c)
		names := f.Made
		for _, v := range f.Values {
			if v.ID {
				names = append(names, v.Mark)
			}
		}
		slices.Sort(names)
		for _, id := range slices.Compact(names) {
			news[id] = append(news[id], taskResponse{int32(i), status})
		}
	}
	return news
}

// last is what the latest response after the receipt says of one of the tasks.
func (n taskNews) last(tasks []Mark, c *cand, b *builder) TaskStatus {
	var best *taskResponse
	for _, id := range tasks {
		list := n[id]
		if len(list) == 0 {
			continue
		}
		r := &list[len(list)-1]
		if x := &b.cands[r.cand]; x.start < c.start || x == c {
			continue
		}
		if best == nil || b.compareCands(best.cand, r.cand) < 0 {
			best = r
		}
	}
	if best == nil {
		return TaskUnset
	}
	return best.status
}
