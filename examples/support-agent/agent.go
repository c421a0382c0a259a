package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

const (
	model  = "gpt-4o-mini"
	order  = "7731"
	target = "order/" + order
	amount = 4990 // cents
)

// supportAgent plays one run: it keeps the run's clock and its open agent span.
type supportAgent struct {
	tracer trace.Tracer
	bank   *payments
	gate   *gate
	run    string
	now    time.Time
}

func newAgent(tracer trace.Tracer, bank *payments, run string, start time.Time) *supportAgent {
	return &supportAgent{tracer: tracer, bank: bank, gate: newGate(), run: run, now: start}
}

// task opens the agent's root span, plays the steps under it and states how the
// run ended.
func (a *supportAgent) task(ctx context.Context, steps func(context.Context)) {
	ctx, span := a.start(ctx, "invoke_agent support",
		attribute.String("gen_ai.operation.name", "invoke_agent"),
		attribute.String("gen_ai.agent.name", "support"),
		attribute.String("agent.task.type", "refund"),
		attribute.String("gen_ai.conversation.id", "ticket-42"))
	steps(ctx)
	span.SetAttributes(attribute.String("agent.run.outcome", "success"))
	a.end(span, 20*time.Millisecond)
}

// message is a message in the form of the OpenTelemetry GenAI conventions.
type message struct {
	Role  string           `json:"role"`
	Parts []map[string]any `json:"parts"`
}

func text(role, content string) message {
	return message{Role: role, Parts: []map[string]any{{"type": "text", "content": content}}}
}

func asks(id, tool string, arguments any) message {
	return message{Role: "assistant", Parts: []map[string]any{{"type": "tool_call", "id": id, "name": tool, "arguments": arguments}}}
}

func answers(id, response string) message {
	return message{Role: "tool", Parts: []map[string]any{{"type": "tool_call_response", "id": id, "response": response}}}
}

// think records a model call: what the model saw, and what it said.
func (a *supportAgent) think(ctx context.Context, saw []message, said message) {
	_, span := a.start(ctx, "chat "+model,
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.provider.name", "openai"),
		attribute.String("gen_ai.request.model", model),
		attribute.String("gen_ai.response.model", model+"-2024-07-18"),
		attribute.Float64("gen_ai.request.temperature", 0),
		attribute.Int("gen_ai.usage.input_tokens", 180+60*len(saw)),
		attribute.Int("gen_ai.usage.output_tokens", 38),
		attribute.String("gen_ai.input.messages", jsonOf(saw)),
		attribute.String("gen_ai.output.messages", jsonOf([]message{said})))
	a.end(span, 700*time.Millisecond)
}

// call is one execution of a tool.
type call struct {
	tool, id  string
	arguments map[string]any
	took      time.Duration
	result    any
	err       error
	more      []attribute.KeyValue
}

// execute records the execution of a tool.
func (a *supportAgent) execute(ctx context.Context, c call) {
	attrs := append([]attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", c.tool),
		attribute.String("gen_ai.tool.call.id", c.id),
		attribute.String("gen_ai.tool.call.arguments", jsonOf(c.arguments)),
	}, c.more...)
	if c.err == nil {
		attrs = append(attrs, attribute.String("gen_ai.tool.call.result", jsonOf(c.result)))
	}
	_, span := a.start(ctx, "execute_tool "+c.tool, attrs...)
	if c.err != nil {
		kind := "_OTHER"
		if errors.Is(c.err, errNoAnswer) {
			kind = "timeout"
		}
		span.SetAttributes(attribute.String("error.type", kind))
		span.SetStatus(codes.Error, c.err.Error())
	}
	a.end(span, c.took)
}

func (a *supportAgent) start(ctx context.Context, name string, attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	a.now = a.now.Add(40 * time.Millisecond)
	attrs = append(attrs, attribute.String("agent.run.id", a.run))
	return a.tracer.Start(ctx, name, trace.WithTimestamp(a.now), trace.WithAttributes(attrs...))
}

func (a *supportAgent) end(span trace.Span, took time.Duration) {
	a.now = a.now.Add(took)
	span.End(trace.WithTimestamp(a.now))
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null" // nothing here can fail to encode
	}
	return string(b)
}
