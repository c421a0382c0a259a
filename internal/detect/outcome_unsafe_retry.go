package detect

import (
	"github.com/steptrail/steptrail/internal/agent"
)

// maxRetries is how many later executions of an act are looked at after an
// unknown outcome.
const maxRetries = 200

// outcomeUnsafeRetry raises outcome.unsafe_retry: after an unknown outcome the
// act ran again without the same key, a conclusive settlement or a person's
// decision; likewise inside one attempt, by its requests, and where a model call
// was retried of whose first answer a call was already dispatched as an act.
func outcomeUnsafeRetry(x *scene) []agent.Finding {
	found := x.unsafeRequests(nil)
	found = x.unsafeModelRetries(found)
	life := x.life()
	if len(life) == 0 {
		return found
	}
	acts := x.executions()
	reads := x.readsByTarget()
	for i := range life {
		if f, ok := x.unsafeAfter(&life[i], acts, reads); ok {
			found = append(found, f)
		}
	}
	return found
}

// executions are the acts that ran, by what a retry of them has in common.
type executions struct {
	byStep map[*agent.RunStep][]moment
	byCall map[callName][]moment // by tool and target, or tool and arguments where there is no target
}

func (x *scene) executions() *executions {
	e := &executions{byStep: map[*agent.RunStep][]moment{}, byCall: map[callName][]moment{}}
	for _, m := range x.timeline() {
		if m.step.Kind != agent.KindAct || !m.at.Executed {
			continue
		}
		if len(m.step.Attempts) > 1 {
			e.byStep[m.step] = append(e.byStep[m.step], m)
		}
		if name, ok := x.sameAct(m.at); ok {
			e.byCall[name] = append(e.byCall[name], m)
		}
	}
	return e
}

// sameAct names what makes two calls the same act: tool and target, or without
// target equal arguments.
func (x *scene) sameAct(a *agent.Attempt) (callName, bool) {
	if a.Tool == "" {
		return callName{}, false
	}
	if a.Target != "" {
		return callName{tool: a.Tool, target: a.Target}, true
	}
	class := x.equalCalls().of(a)
	if class == 0 {
		return callName{}, false
	}
	return callName{tool: a.Tool, arguments: agent.Digest{byte(class), byte(class >> 8), byte(class >> 16), byte(class >> 24)}, sent: true}, true
}

// readsByTarget are the reads that ended ok, by target, in order.
func (x *scene) readsByTarget() map[string][]*agent.Attempt {
	reads := map[string][]*agent.Attempt{}
	for _, m := range x.timeline() {
		if m.step.Kind == agent.KindRead && m.at.Target != "" && m.at.Outcome == agent.OutcomeOK {
			reads[m.at.Target] = append(reads[m.at.Target], m.at)
		}
	}
	return reads
}

func (x *scene) unsafeAfter(u *agent.Unknown, e *executions, reads map[string][]*agent.Attempt) (agent.Finding, bool) {
	st := &x.Run.Steps[u.Step]
	lost := &st.Attempts[u.Attempt]
	if x.repeatable(lost) {
		return agent.Finding{}, false
	}
	var worst moment
	severity := agent.SeverityUnset
	consider := func(list []moment, sameStep bool) {
		for _, m := range after(list, lost) {
			if !x.unsafe(u, st, lost, m, sameStep) {
				continue
			}
			if s := x.unsafeSeverity(lost, m, m.step == st, reads); s > severity {
				severity, worst = s, m
			}
			if severity == agent.SeverityCritical {
				return
			}
		}
	}
	consider(e.byStep[st], true)
	if name, ok := x.sameAct(lost); ok && severity != agent.SeverityCritical {
		consider(e.byCall[name], false)
	}
	if severity == agent.SeverityUnset {
		return agent.Finding{}, false
	}
	again := worst.at
	f := agent.Finding{
		Anchor: place(lost), Severity: onTool(severity, st), Step: st.ID, Tool: lost.Tool, Agent: worst.step.Agent,
		DetectedAt: max(lost.End, again.Start), Evidence: []agent.Evidence{evidence(lost), evidence(again)},
		Waste: agent.Waste{Attempts: 1, Duration: max(0, again.End-again.Start), Tokens: again.Tokens.Total(), CostNano: again.CostNano},
	}
	f.Message = what(lost.Tool, lost.Target) + " ran again " + lapse(again.Start-max(lost.End, lost.Start)) + " after " + attemptOf(st, lost) + " " + ended(lost) + ", " +
		underKeys(lost, again) + "; it " + ended(again) + ", " + cameOf(u, again)
	return f, true
}

// cameOf says what became of an act that ran again, as far as it is known.
func cameOf(u *agent.Unknown, again *agent.Attempt) string {
	switch {
	case u.Way == agent.SettlementApplied && again.Outcome == agent.OutcomeOK:
		return "and the first had happened as well, so it was done twice: undo one"
	case u.Way == agent.SettlementApplied:
		return "and the first had happened: do not run it again"
	case u.Way == agent.SettlementNotApplied:
		return "and the first had not happened, as was seen later: look before acting again, or send the same key"
	}
	return "so it may have been done twice: look before acting again, or send the same key"
}

// after gives the executions of a list that began later, so many of them.
func after(list []moment, a *agent.Attempt) []moment {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := (lo + hi) / 2
		if list[mid].at.Start < a.Start {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return list[lo:min(len(list), lo+maxRetries)]
}

func underKeys(lost, again *agent.Attempt) string {
	switch {
	case lost.Key == "" && again.Key == "":
		return "under no key"
	case again.Key == "":
		return "without the key " + show(lost.Key)
	case lost.Key == "":
		return "under a key that the first did not have"
	}
	return "under another key"
}

// unsafe reports whether an execution repeats what may have happened, and
// nothing makes that safe.
func (x *scene) unsafe(u *agent.Unknown, st *agent.RunStep, lost *agent.Attempt, m moment, sameStep bool) bool {
	again := m.at
	switch {
	case again == lost, m.step == st && !sameStep:
		return false
	case sameStep && (again.Start < lost.Start || again.Start == lost.Start && again.Number <= lost.Number):
		return false
	case !sameStep && again.Start < max(lost.End, lost.Start):
		return false
	case lost.Key != "" && lost.Key == again.Key:
		return false
	case u.SettledBefore(again.Start):
		return false
	case u.DecidedBetween(lost.Start, again.Start), x.approvedBetween(m, lost.Start):
		return false
	}
	return x.absent(again)
}

func (x *scene) unsafeSeverity(lost *agent.Attempt, m moment, sameStep bool, reads map[string][]*agent.Attempt) agent.Severity {
	again := m.at
	if x.userBetween(lost.Start, again.Start) {
		return agent.SeverityWarning
	}
	if !sameStep && otherArguments(lost, again) {
		return agent.SeverityWarning
	}
	if lost.Target != "" {
		for _, r := range reads[lost.Target] {
			if r.Start >= lost.Start && r.End <= again.Start && r.End >= lost.End {
				return agent.SeverityWarning
			}
		}
	}
	return agent.SeverityCritical
}

// otherArguments reports whether both calls recorded arguments and these differ.
func otherArguments(a, b *agent.Attempt) bool {
	if !a.Arguments.Digest.IsZero() && !b.Arguments.Digest.IsZero() {
		return a.Arguments.Digest != b.Arguments.Digest
	}
	return !a.Sent.IsZero() && !b.Sent.IsZero() && a.Sent != b.Sent
}

// unsafeRequests: two requests of one attempt with one method and URL, the second
// after the first went unanswered, under different keys or none.
func (x *scene) unsafeRequests(found []agent.Finding) []agent.Finding {
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		for j := range st.Attempts {
			a := &st.Attempts[j]
			if !a.UnsafeRequest || st.Kind != agent.KindAct || x.repeatable(a) {
				continue
			}
			found = append(found, agent.Finding{
				Anchor: place(a), Severity: onTool(agent.SeverityCritical, st), Step: st.ID, Tool: a.Tool, Agent: st.Agent, DetectedAt: max(a.End, a.Start),
				Evidence: []agent.Evidence{evidence(a)},
				Message: what(a.Tool, a.Target) + ": " + attemptOf(st, a) + " sent its request again after the first went unanswered, without a common idempotency key; " +
					"it may have been done twice: send one key with all requests of an attempt",
			})
		}
	}
	return found
}

// unsafeModelRetries: a model call is tried again although a call that its first
// answer asked for has run as an act.
func (x *scene) unsafeModelRetries(found []agent.Finding) []agent.Finding {
	asked := map[string]*agent.Attempt{} // by call id, the failed attempt that asked
	steps := map[*agent.Attempt]*agent.RunStep{}
	for i := range x.Run.Steps {
		st := &x.Run.Steps[i]
		if st.Kind != agent.KindThink || len(st.Attempts) < 2 {
			continue
		}
		for j := range st.Attempts[:len(st.Attempts)-1] {
			a := &st.Attempts[j]
			for _, ref := range a.Outputs {
				f := x.Run.Facts[ref]
				if f == nil || a.Outcome == agent.OutcomeOK {
					continue
				}
				for k := range f.Calls {
					if id := f.Calls[k].ID; id != "" && asked[id] == nil {
						asked[id], steps[a] = a, st
					}
				}
			}
		}
	}
	if len(asked) == 0 {
		return found
	}
	reported := map[*agent.Attempt]bool{}
	for _, m := range x.timeline() {
		a := asked[m.at.CallID]
		if m.step.Kind != agent.KindAct || !m.at.Executed || m.at.CallID == "" || a == nil || reported[a] || x.repeatable(m.at) {
			continue
		}
		st := steps[a]
		next := nextAttempt(st, a)
		if next == nil || m.at.Start > next.Start {
			continue // it ran for the attempt that came through
		}
		reported[a] = true
		found = append(found, agent.Finding{
			Anchor: place(m.at), Severity: onTool(agent.SeverityCritical, m.step), Step: m.step.ID, Tool: m.at.Tool, Agent: m.step.Agent, DetectedAt: max(m.at.End, next.Start),
			Evidence: []agent.Evidence{evidence(m.at), evidence(a), evidence(next)},
			Message: what(m.at.Tool, m.at.Target) + " was dispatched from a model answer that broke off, and the model call was then tried again; " +
				"the new answer may ask for it again: dispatch calls only from whole answers",
		})
	}
	return found
}

func nextAttempt(st *agent.RunStep, a *agent.Attempt) *agent.Attempt {
	for j := range st.Attempts {
		if &st.Attempts[j] == a && j+1 < len(st.Attempts) {
			return &st.Attempts[j+1]
		}
	}
	return nil
}
