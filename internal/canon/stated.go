package canon

import "github.com/steptrail/steptrail/internal/agent"

// Stated is what the dialect of a span tells and no canonical attribute holds.
// dialect.Normalize fills it; behind the processor it travels in agent.facts.
type Stated struct {
	Dialect string   // name of the dialect; empty where none was recognised
	Op      agent.Op // what the span is by its form

	// Kind as the dialect, or evidence on the span itself, tells; Source says
	// which. A stated agent.step.kind or agent.tool.effect goes before it.
	Kind       agent.Kind
	KindSource agent.KindSource

	DialectRun     string // explicit run id of the dialect
	DialectRunWeak bool   // it gives way to any other explicit id (langsmith.trace.id)
	DialectStep    string // step identity of a durable engine
	Checkpoint     string // langgraph_checkpoint_ns
	HandoffTo      string // the agent that takes over

	OutputFunction bool // the tool is the agent's answer dressed as a tool

	// Marks for the outcome.
	Ended       bool // false only where the dialect knows that the span was cut off
	Deferred    bool // waits for an approval or for work outside
	Refused     bool // turned away before anything ran
	ResultError bool // the dialect marks the result as an error
	NoException bool // its exception events are control flow
	Failed      bool // the call failed, though the status does not say so

	// Words is what the span says of calls that it does not stand for; Open is
	// what became of the calls of an agent's last model answer that nothing else
	// tells of: deferred, if the agent ended well, or refused.
	Words []agent.CallWord
	Open  agent.Sign

	// Spanless, on an agent's span: what a call is that has an answer and no span.
	// Refused: it was turned away. Rejected: so, if the answer is an error.
	Spanless agent.Sign

	// Attempts is how many attempts of a model call the span counts; 0 where it
	// counts none. Those before the last failed.
	Attempts int

	// Effect is what a database or RPC span shows of its operation: evidence for
	// the tool call above it.
	Effect agent.Effect
}

// Reset empties it for the next span.
func (s *Stated) Reset() { *s = Stated{Ended: true, Words: s.Words[:0]} }
