package agent

import "encoding/binary"

// What package assemble must know of spans and messages to tell, span by span,
// that nothing has come that could be a finding.

// IsStep reports whether the span is something the agent did, rather than
// structure, transport or an agent's frame.
func (s *Step) IsStep() bool { return isStep(s) }

// ExecutesCall reports whether a span ran the call that it names, rather than
// deferring it or being turned away.
func (s *Step) ExecutesCall() bool { return executes(s) }

// BaseTool is a tool's name without the prefix of a server or plugin.
func BaseTool(name string) string { return baseTool(name) }

// IsHandoffName reports whether a tool of that name is a hand-off by its name.
func IsHandoffName(tool string) bool { return isHandoffName(tool) }

// IsOutputName reports whether a tool of that name is the agent's answer dressed
// as a tool.
func IsOutputName(tool string) bool { return isOutputName(tool) }

// factsAt is where what CallFacts.Append writes goes on after its fixed part.
const factsAt = 6

// PeekFacts reads the cheap parts of encoded CallFacts: the status of a task, the
// bytes of a model's input, and whether they speak of attempts or of calls that
// are not their span.
func PeekFacts(facts string) (task TaskStatus, inputSize int64, speaks bool) {
	head := factsHead(facts)
	if head == 0 || len(facts) < factsAt {
		return taskOf(facts), 0, false
	}
	if head&factsHasSize != 0 {
		var buf [binary.MaxVarintLen64]byte
		n := copy(buf[:], facts[factsAt:])
		inputSize, _ = binary.Varint(buf[:n])
	}
	return taskOf(facts), inputSize, head&(factsHasAttempts|factsHasWords|factsHasOpen) != 0
}
