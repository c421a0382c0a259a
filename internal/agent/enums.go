package agent

// The enums of the model. The zero value of each means unset. Names are those
// of the span conventions; String gives them, the Parse functions read them. An
// unknown name parses to the zero value and false: callers keep the text, count
// it and go on.

// Op is what a span is by its form, as its dialect tells; the zero value is a span that is no step (an HTTP client span and the like).
type Op uint8

// Values of Op.
const (
	OpNone      Op = iota // a span that is no step, kept as such
	OpModel               // a model call
	OpTool                // an execution of a tool
	OpAgent               // an invocation of an agent
	OpWorkflow            // a workflow, graph node, turn or guardrail: structure without a call of its own
	OpRetrieval           // a retrieval, embedding or memory search
	OpHuman               // an approval, escalation or user turn
	OpGate                // a decision of an idempotency gate, no execution
	OpHandoff             // the passing of a run from one agent to another for good
	OpHTTP                // an HTTP client or server span: evidence for the call above it
)

var opNames = [...]string{"", "model", "tool", "agent", "workflow", "retrieval", "human", "gate", "handoff", "http"}

// String gives the name, empty for the zero value.
func (v Op) String() string { return nameOf(opNames[:], uint8(v)) }

// ParseOp reads a name as String gives it.
func ParseOp(s string) (Op, bool) {
	i, ok := valueOf(opNames[:], s)
	return Op(i), ok
}

// Kind is what a step does.
type Kind uint8

// Values of Kind.
const (
	KindUnset     Kind = iota // no span, policy or evidence told yet
	KindThink                 // a model call
	KindRead                  // a read-only tool call
	KindAct                   // a tool call with side effects
	KindHuman                 // an approval, an escalation, a user turn
	KindReconcile             // a look whether an act took effect
	KindOther                 // anything else that an agent does
)

var kindNames = [...]string{"", "think", "read", "act", "human", "reconcile", "other"}

// String gives the name, empty for the zero value.
func (v Kind) String() string { return nameOf(kindNames[:], uint8(v)) }

// ParseKind reads a name as String gives it.
func ParseKind(s string) (Kind, bool) {
	i, ok := valueOf(kindNames[:], s)
	return Kind(i), ok
}

// KindSource is who said what kind a step is, strongest first.
type KindSource uint8

// Values of KindSource.
const (
	KindSourceUnset    KindSource = iota // nobody
	KindSourcePolicy                     // the policy's rule for the tool
	KindSourceReported                   // agent.step.kind, or agent.tool.effect, on the span
	KindSourceDialect                    // the span's dialect
	KindSourceEvidence                   // HTTP method, database operation, tool type
	KindSourceDefault                    // nothing told, so it is treated as an act
)

var kindSourceNames = [...]string{"", "policy", "reported", "dialect", "evidence", "default"}

// String gives the name, empty for the zero value.
func (v KindSource) String() string { return nameOf(kindSourceNames[:], uint8(v)) }

// ParseKindSource reads a name as String gives it.
func ParseKindSource(s string) (KindSource, bool) {
	i, ok := valueOf(kindSourceNames[:], s)
	return KindSource(i), ok
}

// Effect is the side-effect class of a tool as its span declares it (MCP annotations).
type Effect uint8

// Values of Effect.
const (
	EffectUnset       Effect = iota // not declared
	EffectReadOnly                  // no side effect
	EffectIdempotent                // running again changes nothing more
	EffectMutating                  // changes something
	EffectDestructive               // destroys something
)

var effectNames = [...]string{"", "read_only", "idempotent", "mutating", "destructive"}

// String gives the name, empty for the zero value.
func (v Effect) String() string { return nameOf(effectNames[:], uint8(v)) }

// ParseEffect reads a name as String gives it.
func ParseEffect(s string) (Effect, bool) {
	i, ok := valueOf(effectNames[:], s)
	return Effect(i), ok
}

// Gate is what an idempotency gate decided.
type Gate uint8

// Values of Gate.
const (
	GateUnset     Gate = iota // no decision is recorded
	GateNew                   // the key was new, the call may run
	GateDuplicate             // the recorded outcome was returned, nothing ran
	GateInFlight              // another worker holds the key, nothing ran
	GateUnknown               // an earlier outcome under the key is unknown
)

var gateNames = [...]string{"", "new", "duplicate", "in_flight", "unknown"}

// String gives the name, empty for the zero value.
func (v Gate) String() string { return nameOf(gateNames[:], uint8(v)) }

// ParseGate reads a name as String gives it.
func ParseGate(s string) (Gate, bool) {
	i, ok := valueOf(gateNames[:], s)
	return Gate(i), ok
}

// Outcome is what is known of the effect of an attempt.
type Outcome uint8

// Values of Outcome.
const (
	OutcomeUnset    Outcome = iota // not stated, or not derived yet
	OutcomeOK                      // it took effect, or the read succeeded
	OutcomeError                   // it certainly did not take effect
	OutcomeUnknown                 // it may have happened
	OutcomeRefused                 // it was turned away before anything ran
	OutcomeDeferred                // it waits for an approval or for work outside
)

var outcomeNames = [...]string{"", "ok", "error", "unknown", "refused", "deferred"}

// String gives the name, empty for the zero value.
func (v Outcome) String() string { return nameOf(outcomeNames[:], uint8(v)) }

// ParseOutcome reads a name as String gives it.
func ParseOutcome(s string) (Outcome, bool) {
	i, ok := valueOf(outcomeNames[:], s)
	return Outcome(i), ok
}

// Sign is what a span, an answer or an error text shows about the outcome, before the kind of the step is weighed (outcome table of the conventions).
type Sign uint8

// Values of Sign.
const (
	SignNone      Sign = iota // the span has not ended, or shows nothing
	SignOK                    // it ended without a sign of failure
	SignRejected              // the tool or service judged the input and rejected it
	SignLost                  // the answer was lost: timeout, cancel, reset, 5xx
	SignException             // any other exception: a failure that proves nothing
	SignDeferred              // it waits for approval or for work outside
	SignRefused               // it was turned away before anything ran
	SignReceipt               // only a receipt: queued, dispatched, pending
)

var signNames = [...]string{"", "ok", "rejected", "lost", "exception", "deferred", "refused", "receipt"}

// String gives the name, empty for the zero value.
func (v Sign) String() string { return nameOf(signNames[:], uint8(v)) }

// ParseSign reads a name as String gives it.
func ParseSign(s string) (Sign, bool) {
	i, ok := valueOf(signNames[:], s)
	return Sign(i), ok
}

// OnUnknown is the declared answer of a tool to an unknown outcome.
type OnUnknown uint8

// Values of OnUnknown.
const (
	OnUnknownUnset     OnUnknown = iota // none declared
	OnUnknownReconcile                  // look whether it happened
	OnUnknownReplay                     // run again under the same key
	OnUnknownEscalate                   // ask a person
)

var onUnknownNames = [...]string{"", "reconcile", "replay", "escalate"}

// String gives the name, empty for the zero value.
func (v OnUnknown) String() string { return nameOf(onUnknownNames[:], uint8(v)) }

// ParseOnUnknown reads a name as String gives it.
func ParseOnUnknown(s string) (OnUnknown, bool) {
	i, ok := valueOf(onUnknownNames[:], s)
	return OnUnknown(i), ok
}

// Settlement is which way an unknown outcome was settled.
type Settlement uint8

// Values of Settlement.
const (
	SettlementUnset      Settlement = iota // not stated
	SettlementApplied                      // it had happened
	SettlementNotApplied                   // it had not happened
)

var settlementNames = [...]string{"", "applied", "not_applied"}

// String gives the name, empty for the zero value.
func (v Settlement) String() string { return nameOf(settlementNames[:], uint8(v)) }

// ParseSettlement reads a name as String gives it.
func ParseSettlement(s string) (Settlement, bool) {
	i, ok := valueOf(settlementNames[:], s)
	return Settlement(i), ok
}

// Decision is a person's decision.
type Decision uint8

// Values of Decision.
const (
	DecisionUnset      Decision = iota // none stated
	DecisionApproved                   // go ahead
	DecisionEdited                     // go ahead with other arguments
	DecisionRejected                   // do not
	DecisionExpired                    // nobody answered in time
	DecisionApplied                    // the act had happened
	DecisionNotApplied                 // the act had not happened
)

var decisionNames = [...]string{"", "approved", "edited", "rejected", "expired", "applied", "not_applied"}

// String gives the name, empty for the zero value.
func (v Decision) String() string { return nameOf(decisionNames[:], uint8(v)) }

// ParseDecision reads a name as String gives it.
func ParseDecision(s string) (Decision, bool) {
	i, ok := valueOf(decisionNames[:], s)
	return Decision(i), ok
}

// RunOutcome is how a run, or this part of it, ended.
type RunOutcome uint8

// Values of RunOutcome.
const (
	RunOutcomeUnset     RunOutcome = iota // not stated
	RunOutcomeSuccess                     // the task was done
	RunOutcomeFailure                     // it was not
	RunOutcomeEscalated                   // handed to a person
	RunOutcomeLimit                       // a limit ended it
	RunOutcomePaused                      // it waits
	RunOutcomeAbandoned                   // nobody waits for it any more
)

var runOutcomeNames = [...]string{"", "success", "failure", "escalated", "limit", "paused", "abandoned"}

// String gives the name, empty for the zero value.
func (v RunOutcome) String() string { return nameOf(runOutcomeNames[:], uint8(v)) }

// ParseRunOutcome reads a name as String gives it.
func ParseRunOutcome(s string) (RunOutcome, bool) {
	i, ok := valueOf(runOutcomeNames[:], s)
	return RunOutcome(i), ok
}

// CostSource is where a cost comes from.
type CostSource uint8

// Values of CostSource.
const (
	CostSourceUnset    CostSource = iota // no cost is known
	CostSourceReported                   // the sender stated it
	CostSourceComputed                   // from tokens and the policy's prices
)

var costSourceNames = [...]string{"", "reported", "computed"}

// String gives the name, empty for the zero value.
func (v CostSource) String() string { return nameOf(costSourceNames[:], uint8(v)) }

// ParseCostSource reads a name as String gives it.
func ParseCostSource(s string) (CostSource, bool) {
	i, ok := valueOf(costSourceNames[:], s)
	return CostSource(i), ok
}

// Role is the role of a message.
type Role uint8

// Values of Role.
const (
	RoleUnset     Role = iota // not stated
	RoleSystem                // instructions
	RoleUser                  // a person, or a program that speaks for one
	RoleAssistant             // a model
	RoleTool                  // an answer of a tool
)

var roleNames = [...]string{"", "system", "user", "assistant", "tool"}

// String gives the name, empty for the zero value.
func (v Role) String() string { return nameOf(roleNames[:], uint8(v)) }

// ParseRole reads a name as String gives it.
func ParseRole(s string) (Role, bool) {
	i, ok := valueOf(roleNames[:], s)
	return Role(i), ok
}

// Severity is how bad a finding is.
type Severity uint8

// Values of Severity.
const (
	SeverityUnset    Severity = iota // not set
	SeverityInfo                     // worth knowing
	SeverityWarning                  // look at it soon
	SeverityCritical                 // look at it now
)

var severityNames = [...]string{"", "info", "warning", "critical"}

// String gives the name, empty for the zero value.
func (v Severity) String() string { return nameOf(severityNames[:], uint8(v)) }

// ParseSeverity reads a name as String gives it.
func ParseSeverity(s string) (Severity, bool) {
	i, ok := valueOf(severityNames[:], s)
	return Severity(i), ok
}

// Status is the state of a finding.
type Status uint8

// Values of Status.
const (
	StatusUnset     Status = iota // not set
	StatusOpen                    // holds and waits for someone
	StatusResolved                // settled; it stays in the history
	StatusWithdrawn               // later evidence took it back
)

var statusNames = [...]string{"", "open", "resolved", "withdrawn"}

// String gives the name, empty for the zero value.
func (v Status) String() string { return nameOf(statusNames[:], uint8(v)) }

// ParseStatus reads a name as String gives it.
func ParseStatus(s string) (Status, bool) {
	i, ok := valueOf(statusNames[:], s)
	return Status(i), ok
}

// IDSource is how the id of a run was found.
type IDSource uint8

// Values of IDSource.
const (
	IDSourceUnset     IDSource = iota // not derived
	IDSourceReported                  // a span of the run states it
	IDSourceInherited                 // an ancestor or the only explicit run of the trace states it
	IDSourceInferred                  // it is the trace id
)

var iDSourceNames = [...]string{"", "reported", "inherited", "inferred"}

// String gives the name, empty for the zero value.
func (v IDSource) String() string { return nameOf(iDSourceNames[:], uint8(v)) }

// ParseIDSource reads a name as String gives it.
func ParseIDSource(s string) (IDSource, bool) {
	i, ok := valueOf(iDSourceNames[:], s)
	return IDSource(i), ok
}

// AttemptSource is how the number of an attempt was found.
type AttemptSource uint8

// Values of AttemptSource.
const (
	AttemptSourceUnset    AttemptSource = iota // not derived
	AttemptSourceReported                      // every attempt of the step states its number
	AttemptSourceEvents                        // the dialect's own attempt events
	AttemptSourceOrder                         // the order of the spans by start, end and span id
)

var attemptSourceNames = [...]string{"", "reported", "events", "order"}

// String gives the name, empty for the zero value.
func (v AttemptSource) String() string { return nameOf(attemptSourceNames[:], uint8(v)) }

// ParseAttemptSource reads a name as String gives it.
func ParseAttemptSource(s string) (AttemptSource, bool) {
	i, ok := valueOf(attemptSourceNames[:], s)
	return AttemptSource(i), ok
}

func nameOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return ""
}

func valueOf(names []string, s string) (uint8, bool) {
	if s == "" {
		return 0, false
	}
	for i, n := range names {
		if n == s {
			return uint8(i), true // enums have fewer than 256 values
		}
	}
	return 0, false
}
