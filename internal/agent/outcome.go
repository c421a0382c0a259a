package agent

import "strings"

// outcomes decides what is known of the effect of each attempt (conventions,
// "Outcome"): as stated, else the gate, else its requests, else what its spans
// and the answers to its call show.
func (b *builder) outcomes() {
	for i := range b.cands {
		if c := &b.cands[i]; !c.gone {
			kind := c.kind
			if c.class == classModel && kind != KindAct {
				kind = KindThink // whatever else its span calls it
			}
			c.outcome = softened(b.outcome(c), kind)
			if c.key == "" && c.kind == KindAct && len(c.http) > 0 {
				c.key = b.keyOfRequests(c)
			}
		}
	}
}

func (b *builder) outcome(c *cand) Outcome {
	if c.spans == nil {
		if o := b.span(c).Outcome; o != OutcomeUnset {
			return o
		}
	}
	stated := OutcomeUnset
	for _, at := range c.spans {
		if b.a.steps[at].Op != OpGate || c.op == OpGate {
			stated = worse(stated, b.a.steps[at].Outcome)
		}
	}
	if stated != OutcomeUnset {
		return stated
	}
	switch {
	case c.gate == GateDuplicate || c.gate == GateInFlight || c.gate == GateUnknown:
		return OutcomeRefused
	case c.op == OpGate: // it said new, and no execution is here
		if b.lost(c.lane, c.start) {
			return OutcomeUnknown
		}
		return OutcomeUnset
	case c.parts:
		return b.outcomeOfPart(c)
	case c.counted:
		return OutcomeError
	case b.turnedAway(c):
		return OutcomeRefused
	}
	sign := b.sign(c)
	if c.waits {
		sign = SignDeferred
	}
	if sign != SignDeferred && c.class == classTool && len(c.http) > 0 {
		// Who says that nothing ran is not believed where a request went through.
		if o, ok := b.judgeRequests(c); ok && (sign != SignRefused || o != OutcomeError) {
			return o
		}
	}
	if sign == SignDeferred && c.answer != nil && !strings.Contains(b.span(c).ErrorType, "CallDeferred") {
		return OutcomeRefused
	}
	sign = b.standIn(c, sign)
	if sign == SignReceipt && c.kind == KindAct && !b.lost(c.lane, c.start) {
		return OutcomeUnset // an answer may still tell
	}
	return outcomeOf(sign, c.kind)
}

// turnedAway: a decision inside the span of a call turned it away, and nothing in
// it ran or came back.
func (b *builder) turnedAway(c *cand) bool {
	if c.op != OpTool || c.noSpan || c.result.State != RecordedNot {
		return false
	}
	inner := c.node
	if c.spans != nil {
		inner = c.spans[len(c.spans)-1]
	}
	away := false
	for at := b.a.nodes[inner].child; at >= 0; at = b.a.nodes[at].sibling {
		switch b.a.steps[at].Decision {
		case DecisionRejected, DecisionExpired:
			away = true
		case DecisionApproved, DecisionEdited:
			return false
		default:
		}
	}
	return away
}

// lost reports whether what began then, and has not been heard of, is given up:
// all is quiet and its lane went on, or nothing came for long.
func (b *builder) lost(lane int32, since int64) bool {
	if b.a.in.Silent {
		return true
	}
	if !b.a.in.Quiet {
		return false
	}
	if at := b.lanes[lane].agent; at >= 0 && b.a.steps[at].End != 0 {
		return true
	}
	return b.lanes[lane].latest > since
}

// sign is the worst that the spans of an attempt show.
func (b *builder) sign(c *cand) Sign {
	if c.spans == nil {
		return endedSign(b.span(c))
	}
	worst := SignNone
	for _, at := range c.spans {
		s := b.a.steps[at]
		if s.Op == OpGate || s.Op == OpHTTP {
			continue
		}
		if sign := endedSign(s); rankSign(sign) > rankSign(worst) {
			worst = sign
		}
	}
	return worst
}

// endedSign: a span that has not ended has lost its answer, so far as it tells.
func endedSign(s *Step) Sign {
	switch {
	case s.Sign != SignNone:
		return s.Sign
	case s.End != 0:
		return SignOK
	}
	return SignLost
}

func rankSign(s Sign) int {
	switch s {
	case SignNone:
		return 0
	case SignOK:
		return 1
	case SignReceipt:
		return 2
	case SignRefused:
		return 3
	case SignDeferred:
		return 4
	case SignRejected:
		return 5
	case SignException:
		return 6
	case SignLost:
		return 7
	}
	return 0
}

// standIn lets the answer to the call speak where the span shows no failure and
// no result of its own, or only a receipt.
func (b *builder) standIn(c *cand, sign Sign) Sign {
	if c.answer == nil || c.answer.Sign == SignNone {
		return sign
	}
	switch sign {
	case SignNone, SignOK:
		if c.answer.Sign == SignRefused && c.result.State != RecordedNot {
			return sign // it ran: its span has a result
		}
		if c.result.State == RecordedNot || c.result == c.answer.Result {
			return c.answer.Sign
		}
	case SignReceipt:
		return c.answer.Sign
	case SignDeferred:
		return c.answer.Sign
	default:
	}
	return sign
}

// outcomeOfPart: a request of a model call. The last one ended as the call did.
func (b *builder) outcomeOfPart(c *cand) Outcome {
	return outcomeOf(requestSign(b.a.steps[c.http[0]]), c.kind)
}

// outcomeOf weighs a sign by what the step does. Only an act can be unknown.
func outcomeOf(s Sign, k Kind) Outcome {
	act := k == KindAct
	switch s {
	case SignNone, SignOK:
		return OutcomeOK
	case SignRejected:
		return OutcomeError
	case SignLost, SignException:
		if act {
			return OutcomeUnknown
		}
		return OutcomeError
	case SignDeferred:
		return OutcomeDeferred
	case SignRefused:
		return OutcomeRefused
	case SignReceipt:
		if act {
			return OutcomeUnknown
		}
		return OutcomeOK
	}
	return OutcomeOK
}

// softened: a read or a model call is never unknown, whatever it states; where
// an act would be, it is an error. A person or a look may say that it did not
// find out.
func softened(o Outcome, k Kind) Outcome {
	if o == OutcomeUnknown && (k == KindRead || k == KindThink || k == KindOther) {
		return OutcomeError
	}
	return o
}

// worse gives the worse of two outcomes: unknown over error over ok.
func worse(x, y Outcome) Outcome {
	if rankOutcome(y) > rankOutcome(x) {
		return y
	}
	return x
}

func rankOutcome(o Outcome) int {
	switch o {
	case OutcomeUnset:
		return 0
	case OutcomeOK:
		return 1
	case OutcomeRefused:
		return 2
	case OutcomeDeferred:
		return 3
	case OutcomeError:
		return 4
	case OutcomeUnknown:
		return 5
	}
	return 0
}

// failed reports whether an attempt ended without success: a retry may follow.
func failed(o Outcome) bool { return o == OutcomeError || o == OutcomeUnknown }
