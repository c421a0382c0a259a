package main

import (
	"context"
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// opening is what both stories share: the customer asks, the agent reads the
// order, and a person approves the refund. It gives the conversation so far.
func opening(ctx context.Context, a *supportAgent) []message {
	talk := []message{
		text("system", "You are a support agent. Refund damaged goods."),
		text("user", "Order "+order+" arrived broken. I want my money back."),
	}
	lookup := map[string]any{"order_id": order}
	a.think(ctx, talk, asks("call_1", "get_order", lookup))
	a.execute(ctx, call{
		tool: "get_order", id: "call_1", arguments: lookup, took: 90 * time.Millisecond,
		result: map[string]any{"order_id": order, "status": "delivered", "total_cents": amount},
	})
	a.approve(ctx)
	return append(talk, asks("call_1", "get_order", lookup), answers("call_1", `{"order_id":"7731","status":"delivered","total_cents":4990}`))
}

// approve records that a person allowed the refund.
func (a *supportAgent) approve(ctx context.Context) {
	_, span := a.start(ctx, "approve issue_refund",
		attribute.String("agent.step.kind", "human"),
		attribute.String("agent.target", target),
		attribute.String("agent.human.decision", "approved"),
		attribute.String("agent.human.actor", "supervisor"))
	a.end(span, 4*time.Second)
}

// playNaive tries the refund again after the time-out, with no key.
func playNaive(ctx context.Context, a *supportAgent) {
	a.task(ctx, func(ctx context.Context) {
		talk := opening(ctx, a)
		arguments := map[string]any{"order_id": order, "amount_cents": amount}
		step := []attribute.KeyValue{attribute.String("agent.step.id", "refund-"+order)}
		a.think(ctx, talk, asks("call_2", "issue_refund", arguments))
		_, err := a.bank.refund(order, amount, "")
		a.execute(ctx, call{tool: "issue_refund", id: "call_2", arguments: arguments, took: 30 * time.Second, err: err, more: step})
		a.now = a.now.Add(800 * time.Millisecond)
		r, err := a.bank.refund(order, amount, "") // the platform retries
		a.execute(ctx, call{
			tool: "issue_refund", id: "call_2", arguments: arguments, took: 240 * time.Millisecond,
			result: map[string]any{"refund_id": r.ID, "status": "booked"}, err: err, more: step,
		})
		a.farewell(ctx, append(talk, asks("call_2", "issue_refund", arguments), answers("call_2", `{"refund_id":"`+r.ID+`","status":"booked"}`)))
	})
}

// playDesigned carries one key through both attempts, looks up what became of
// the first, and lets the gate answer the second.
func playDesigned(ctx context.Context, a *supportAgent) {
	a.task(ctx, func(ctx context.Context) {
		talk := opening(ctx, a)
		step := "refund-" + order
		key := keyOf(a.run, step, target, "issue_refund")
		arguments := map[string]any{"order_id": order, "amount_cents": amount, "idempotency_key": key}
		a.think(ctx, talk, asks("call_2", "issue_refund", arguments))
		a.refund(ctx, step, key, arguments)
		a.reconcile(ctx, step, key)
		result := a.refund(ctx, step, key, arguments)
		a.farewell(ctx, append(talk, asks("call_2", "issue_refund", arguments), answers("call_2", result)))
	})
}

// refund asks the gate, and runs the refund if the gate lets it.
func (a *supportAgent) refund(ctx context.Context, step, key string, arguments map[string]any) (result string) {
	said, recorded := a.gate.enter(key)
	c := call{tool: "issue_refund", id: "call_2", arguments: arguments, took: 5 * time.Millisecond, more: []attribute.KeyValue{
		attribute.String("agent.step.id", step),
		attribute.String("agent.target", target),
		attribute.String("agent.idempotency.key", key),
		attribute.String("agent.gate.decision", string(said)),
	}}
	if said != gateNew {
		c.result = json.RawMessage(recorded)
		a.execute(ctx, c)
		return recorded
	}
	r, err := a.bank.refund(order, amount, key)
	if err != nil {
		a.gate.leave(key, gateUnknown, "")
		c.err, c.took = err, 30*time.Second
		c.more = append(c.more, attribute.String("agent.outcome", "unknown"))
	} else {
		result = jsonOf(map[string]any{"refund_id": r.ID, "status": "booked"})
		a.gate.leave(key, gateDuplicate, result)
		c.result, c.took = json.RawMessage(result), 240*time.Millisecond
	}
	a.execute(ctx, c)
	return result
}

// reconcile looks whether the refund took effect, and tells the gate.
func (a *supportAgent) reconcile(ctx context.Context, step, key string) {
	found := a.bank.lookup(order)
	way := "not_applied"
	if len(found) > 0 {
		way = "applied"
		a.gate.leave(key, gateDuplicate, jsonOf(map[string]any{"refund_id": found[0].ID, "status": "booked"}))
	}
	a.execute(ctx, call{
		tool: "payments_lookup", id: "reconcile_1", arguments: map[string]any{"order_id": order}, took: 120 * time.Millisecond,
		result: map[string]any{"found": len(found) > 0, "refunds": len(found)}, more: []attribute.KeyValue{
			attribute.String("agent.step.kind", "reconcile"),
			attribute.String("agent.target", target),
			attribute.String("agent.reconciles", step),
			attribute.String("agent.reconcile.result", way),
			attribute.String("agent.outcome", "ok"),
		},
	})
}

func (a *supportAgent) farewell(ctx context.Context, talk []message) {
	a.think(ctx, talk, text("assistant", "I have refunded your order. Sorry for the trouble."))
}
