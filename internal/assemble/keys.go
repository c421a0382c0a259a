package assemble

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"

	"github.com/steptrail/steptrail/internal/agent"
)

// keyIndex holds the acts of all runs under each idempotency key, bounded: the
// key that was used longest ago goes first.
type keyIndex struct {
	at      map[keyToken]*keyEntry
	max     int
	bytes   int64
	dropped int64
	oldest  *keyEntry
	newest  *keyEntry
}

type keyToken struct{ tenant, key string }

// keyEntry is a key with the acts under it, in the order of their starts. It outlives
// their groups, and keeps nothing of these.
type keyEntry struct {
	token        keyToken
	acts         []keyAct
	span         spanKey // the first span seen with the key
	first        *member // the group of that span
	tool, target uint64  // hashes of what it states; 0 where it states none
	isGate       bool    // it is a gate's decision that the act may go on
	paired       bool    // that act came, or its gate's decision
	older, newer *keyEntry
}

type keyAct struct {
	act agent.Act
	by  *member
}

// member is what the index knows a group by.
type member struct{ group *group } // that it is part of; nil: it is gone

// member gives what the index knows a group by.
func (g *group) member() *member {
	if len(g.members) == 0 {
		g.members = []*member{{g}}
	}
	return g.members[0]
}

// pass makes all that stands for a group stand for another, or for none.
func (g *group) pass(to *group) {
	for _, m := range g.members {
		m.group = to
	}
	if to != nil {
		to.members = append(to.members, g.members...)
	}
	g.members = nil
}

const (
	keyCost = 260
	actCost = int64(unsafe.Sizeof(keyAct{}))
	// maxActs bounds the acts kept under one key: the newest.
	maxActs = 64
)

func newKeyIndex(most int) keyIndex {
	return keyIndex{at: map[keyToken]*keyEntry{}, max: most}
}

// notice says that a span has a key, and reports whether another span had it
// before: a finding may be complete. An act and the decision of its gate are one
// use of a key. first is the group of the first span; nil: it is gone.
func (x *keyIndex) notice(g *group, key string, s *agent.Step) (again bool, first *group) {
	e := x.at[keyToken{g.tenant, key}]
	span := spanKey{s.Trace, s.Span}
	tool, target := hashOf(s.Call.Tool), hashOf(s.Call.Target)
	isGate := s.Op == agent.OpGate && s.Call.Gate == agent.GateNew
	if e == nil {
		e = x.add(keyToken{g.tenant, own(key)})
		e.span, e.first, e.tool, e.target, e.isGate = span, g.member(), tool, target, isGate
		return false, g
	}
	x.renew(e)
	if e.first != nil {
		first = e.first.group
	}
	if e.span == span {
		return false, first
	}
	if !e.paired && e.isGate != isGate && e.span.trace == s.Trace && agree(e.tool, tool) && agree(e.target, target) {
		e.paired = true
		return false, first
	}
	return true, first
}

// hashOf gives a hash of a text; 0 for none.
func hashOf(s string) uint64 {
	if s == "" {
		return 0
	}
	return traitName.text(s)
}

// agree: what is not stated is not different.
func agree(x, y uint64) bool { return x == 0 || y == 0 || x == y }

func (x *keyIndex) add(t keyToken) *keyEntry {
	for len(x.at) >= x.max {
		x.dropOldest()
	}
	e := &keyEntry{token: t}
	x.at[t] = e
	x.bytes += keyCost + int64(len(t.key))
	x.push(e)
	return e
}

func (x *keyIndex) dropOldest() bool {
	e := x.oldest
	if e == nil {
		return false
	}
	x.dropped++
	x.unlink(e)
	delete(x.at, e.token)
	x.bytes -= keyCost + int64(len(e.token.key)) + actSizes(e.acts)
	return true
}

func (x *keyIndex) push(e *keyEntry) {
	e.older, e.newer = x.newest, nil
	if x.newest != nil {
		x.newest.newer = e
	} else {
		x.oldest = e
	}
	x.newest = e
}

func (x *keyIndex) unlink(e *keyEntry) {
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		x.oldest = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		x.newest = e.older
	}
	e.older, e.newer = nil, nil
}

func (x *keyIndex) renew(e *keyEntry) {
	if x.newest != e {
		x.unlink(e)
		x.push(e)
	}
}

// under gives the acts of other runs under a key.
func (x *keyIndex) under(tenant, key, run string) []agent.Act {
	e := x.at[keyToken{tenant, key}]
	if e == nil {
		return nil
	}
	var acts []agent.Act
	for i := range e.acts {
		if e.acts[i].act.Run != run {
			acts = append(acts, e.acts[i].act)
		}
	}
	return acts
}

// replace puts the acts of a group under a key in the place of those it had
// there. It gives the groups whose findings may change by it.
func (x *keyIndex) replace(tenant, key string, g *group, acts []agent.Act) (affected []*group) {
	t := keyToken{tenant, key}
	e := x.at[t]
	if e == nil {
		if len(acts) == 0 {
			return nil
		}
		e = x.add(keyToken{tenant, own(key)})
	}
	x.renew(e)
	old := e.acts
	kept := old[:0:0]
	had := 0
	same := true
	for i := range old {
		if old[i].by.group != g {
			kept = append(kept, old[i])
			continue
		}
		same = same && had < len(acts) && acts[had] == old[i].act
		had++
	}
	if same && had == len(acts) {
		return nil
	}
	for i := range acts {
		kept = append(kept, keyAct{e.own(acts[i]), g.member()})
	}
	slices.SortStableFunc(kept, compareKeyActs)
	if len(kept) > maxActs {
		kept = slices.Clone(kept[len(kept)-maxActs:])
	}
	x.bytes += actSizes(kept) - actSizes(old)
	e.acts = kept
	affected = affectedBy(affected, old, g, kept)
	return affectedBy(affected, kept, g, old)
}

// affectedBy adds the groups whose acts in a list come after those acts of a group
// that the other list has not.
func affectedBy(affected []*group, list []keyAct, g *group, other []keyAct) []*group {
	for i := range list {
		if list[i].by.group == g && !slices.Contains(other, list[i]) {
			affected = followers(affected, list, i)
		}
	}
	return affected
}

// followers adds the groups of the acts that may look at one before them. Findings look at
// the nearest earlier one of another step, and at the nearest of the same tool and
// target that took effect: behind an act that is both, none looks further back.
func followers(affected []*group, list []keyAct, i int) []*group {
	n := &list[i]
	for k := i + 1; k < len(list); k++ {
		a := &list[k]
		if g := a.by.group; g != nil && g != n.by.group && !slices.Contains(affected, g) {
			affected = append(affected, g)
		}
		if a.act.Tool == n.act.Tool && a.act.Target == n.act.Target && (tookEffect(&a.act) || !tookEffect(&n.act)) {
			break
		}
	}
	return affected
}

func tookEffect(a *agent.Act) bool { return a.Executed && a.Outcome == agent.OutcomeOK }

// own copies the texts of an act: those that it came with lie among all of its run.
func (e *keyEntry) own(a agent.Act) agent.Act {
	a.Tenant, a.Key = e.token.tenant, e.token.key
	isRun := a.Unit == a.Run
	if isRun {
		a.Unit = ""
	}
	ownTexts([]*string{&a.Run, &a.Unit, &a.StepID, &a.Agent, &a.Tool, &a.Target})
	if isRun {
		a.Unit = a.Run
	}
	return a
}

func actSizes(acts []keyAct) (n int64) {
	for i := range acts {
		a := &acts[i].act
		n += actCost + int64(len(a.Run)+len(a.Unit)+len(a.StepID)+len(a.Agent)+len(a.Tool)+len(a.Target))
	}
	return n
}

// compareKeyActs orders acts as attempts are ordered.
func compareKeyActs(x, y keyAct) int {
	return cmp.Or(cmp.Compare(x.act.Start, y.act.Start), cmp.Compare(x.act.End, y.act.End), x.act.Trace.Compare(y.act.Trace),
		x.act.Span.Compare(y.act.Span), cmp.Compare(x.act.Part, y.act.Part), strings.Compare(x.act.Run, y.act.Run))
}
