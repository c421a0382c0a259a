package store

import (
	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// keyRole is what a token says about a unit.
type keyRole uint8

const (
	roleTrace      keyRole = iota + 1 // the unit is an explicit id and has spans in this trace
	roleLinks                         // a span of the unit links into this trace
	roleAsks                          // a model output of the unit asks for this call
	roleExecutes                      // a tool span of the unit runs this call
	roleAnswered                      // a model input of the unit ends with the answer to this call
	roleCheckpoint                    // a span of the unit carries this checkpoint
)

var keyRoleNames = [...]string{"", "trace", "links", "asks", "executes", "answered", "checkpoint"}

// String gives the name as the table has it.
func (r keyRole) String() string {
	if int(r) < len(keyRoleNames) {
		return keyRoleNames[r]
	}
	return ""
}

// repeats reports whether many spans of a unit state the same token in this
// role, so that it is worth remembering.
func (r keyRole) repeats() bool {
	return r == roleTrace || r == roleLinks || r == roleCheckpoint
}

// maxToken bounds a token: what is longer is no id.
const maxToken = 512

// unitKey is a token by which a unit may be joined with others.
type unitKey struct {
	role  keyRole
	token string
}

// stepKeys gives what a span states that can join its unit with others, but for
// the trace it is in. facts are those of its messages; f is not called for tokens that are empty or no
// ids. It is called with the same token more than once.
func stepKeys(st *agent.Step, facts []agent.MessageFacts, f func(unitKey)) {
	emit := func(role keyRole, token string) {
		if token != "" && len(token) <= maxToken {
			f(unitKey{role, token})
		}
	}
	for _, l := range st.Links {
		if l.Trace != st.Trace && !l.Trace.IsZero() {
			emit(roleLinks, l.Trace.String())
		}
	}
	emit(roleCheckpoint, st.Checkpoint)
	if st.Op == agent.OpTool && executed(st) {
		emit(roleExecutes, st.Call.ID)
	}
	if st.Op != agent.OpModel || len(facts) == 0 {
		return
	}
	for _, ref := range st.Model.Outputs {
		if m := factsOf(facts, ref); m != nil {
			for i := range m.Calls {
				emit(roleAsks, m.Calls[i].ID)
			}
		}
	}
	answered(st.Model.Context, facts, func(id string) { emit(roleAnswered, id) })
}

// executed: a deferred or refused span is no execution.
func executed(st *agent.Step) bool {
	switch st.Outcome {
	case agent.OutcomeDeferred, agent.OutcomeRefused:
		return false
	}
	switch st.Sign {
	case agent.SignDeferred, agent.SignRefused:
		return false
	}
	switch st.Call.Gate {
	case agent.GateDuplicate, agent.GateInFlight:
		return false
	}
	return true
}

// answered calls f with the ids of the answers that an input ends with.
func answered(context []agent.Ref, facts []agent.MessageFacts, f func(id string)) {
	for i := len(context) - 1; i >= 0; i-- {
		m := factsOf(facts, context[i])
		if m == nil || len(m.Answers) == 0 {
			return
		}
		for j := range m.Answers {
			f(m.Answers[j].ID)
		}
	}
}

// factsOf finds the facts of a message. A span's own list is short, and the
// messages that matter stand at its end.
func factsOf(facts []agent.MessageFacts, ref agent.Ref) *agent.MessageFacts {
	for i := len(facts) - 1; i >= 0; i-- {
		if facts[i].Ref == ref {
			return &facts[i]
		}
	}
	return nil
}

// logKeys is stepKeys for a message that came as a log record.
func logKeys(l *agent.LogContent, m *agent.MessageFacts, f func(unitKey)) {
	emit := func(role keyRole, token string) {
		if token != "" && len(token) <= maxToken {
			f(unitKey{role, token})
		}
	}
	if l.Unit != l.Trace.String() {
		emit(roleTrace, l.Trace.String())
	}
	if l.Output {
		for i := range m.Calls {
			emit(roleAsks, m.Calls[i].ID)
		}
		return
	}
	for i := range m.Answers {
		emit(roleAnswered, m.Answers[i].ID)
	}
}

// keyTable is the columns of the unit_keys table.
type keyTable struct {
	column.Set
	tenant  *column.Dict
	token   *column.String
	started *column.Int64
	unit    *column.String
	role    *column.UInt8
	service *column.Dict
	expires *column.UInt32
}

func newKeyTable() *keyTable {
	t := &keyTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.token = column.Add(s, "token", column.NewString())
	t.started = column.Add(s, "started_at", column.NewTime())
	t.unit = column.Add(s, "unit", column.NewString())
	t.role = column.Add(s, "role", column.NewEnum(keyRoleType))
	t.service = column.Add(s, "service", column.NewDict())
	t.expires = column.Add(s, "expires_at", column.NewDateTime())
	return t
}

func (t *keyTable) append(tenant, unit, service string, k unitKey, started, expires int64) {
	t.tenant.Append(tenant)
	t.token.Append(k.token)
	t.started.Append(started)
	t.unit.Append(unit)
	t.role.Append(uint8(k.role))
	t.service.Append(service)
	t.expires.Append(seconds(expires))
}

// changeTable is the columns of the run_changes table that the client fills;
// the server's clock fills inserted_at.
type changeTable struct {
	column.Set
	tenant *column.Dict
	unit   *column.String
	rows   *column.Int64
}

func newChangeTable() *changeTable {
	t := &changeTable{}
	t.tenant = column.Add(&t.Set, "tenant", column.NewDict())
	t.unit = column.Add(&t.Set, "unit", column.NewString())
	t.rows = column.Add(&t.Set, "rows", &column.Int64{})
	return t
}

func (t *changeTable) append(id agent.UnitID, rows int64) {
	t.tenant.Append(id.Tenant)
	t.unit.Append(id.Unit)
	t.rows.Append(rows)
}

// linkTable is the columns of the run_links table.
type linkTable struct {
	column.Set
	tenant  *column.Dict
	unit    *column.String
	run     *column.String
	version *column.UInt64
	gone    *column.Bool
	expires *column.UInt32
}

func newLinkTable() *linkTable {
	t := &linkTable{}
	s := &t.Set
	t.tenant = column.Add(s, "tenant", column.NewDict())
	t.unit = column.Add(s, "unit", column.NewString())
	t.run = column.Add(s, "run", column.NewString())
	t.version = column.Add(s, "version", &column.UInt64{})
	t.gone = column.Add(s, "gone", &column.Bool{})
	t.expires = column.Add(s, "expires_at", column.NewDateTime())
	return t
}

func (t *linkTable) append(l *agent.RunLink, version uint64, expires int64) {
	t.tenant.Append(l.Tenant)
	t.unit.Append(l.Unit)
	t.run.Append(l.Run)
	t.version.Append(version)
	t.gone.Append(l.Gone)
	t.expires.Append(seconds(expires))
}

func (t *linkTable) row(i int) agent.RunLink {
	return agent.RunLink{Tenant: t.tenant.Row(i), Unit: t.unit.Row(i), Run: t.run.Row(i), Gone: t.gone.Row(i)}
}
