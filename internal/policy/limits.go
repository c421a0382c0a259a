package policy

import "time"

// DefaultAttempts is the limit of attempts of one step where the policy states none.
const DefaultAttempts = 5

// Limits is what one run may use. 0 means no limit; a limit is broken beyond it, not at it.
type Limits struct {
	// Steps of all kinds but other.
	Steps int64
	// ToolCalls counts executed attempts, for each tool.
	ToolCalls int64
	// Tokens counts input and output of all attempts.
	Tokens int64
	// WallTime is from the first start to the last end of all the run's spans.
	WallTime time.Duration
	// CostNanoUSD is in whole 1e-9 USD.
	CostNanoUSD int64
	// Attempts of one step, DefaultAttempts where not stated; never 0 in what [Policy.Limits] returns.
	Attempts int
}

type limitRule struct {
	agent, taskType string
	task            glob
	limits          Limits
}

// Limits is what the first rule says whose patterns match agent and task type. Where none does, only Attempts is limited. Names
// longer than 1,024 bytes are cut. It does not allocate.
func (p *Policy) Limits(agent, taskType string) Limits {
	agent, taskType = cut(agent), cut(taskType)
	for i := 0; ; i++ {
		i = p.limitIndex.first(agent, i, len(p.limits))
		if i == len(p.limits) {
			return Limits{Attempts: DefaultAttempts}
		}
		if p.limits[i].task.match(taskType) {
			return p.limits[i].limits
		}
	}
}

// LeastLimits is the smallest that any rule says, each limit for itself: what a run of any agent cannot exceed unnoticed.
func (p *Policy) LeastLimits() Limits {
	least := Limits{Attempts: DefaultAttempts}
	for i := range p.limits {
		least = least.Least(p.limits[i].limits)
	}
	return least
}

// Least is the smaller of two, each limit for itself.
func (l Limits) Least(o Limits) Limits {
	return Limits{
		Steps: lesser(l.Steps, o.Steps), ToolCalls: lesser(l.ToolCalls, o.ToolCalls), Tokens: lesser(l.Tokens, o.Tokens),
		WallTime: lesser(l.WallTime, o.WallTime), CostNanoUSD: lesser(l.CostNanoUSD, o.CostNanoUSD), Attempts: lesser(l.Attempts, o.Attempts),
	}
}

// lesser gives the smaller of two limits; 0 is none.
func lesser[T int | int64 | time.Duration](x, y T) T {
	if x == 0 || y != 0 && y < x {
		return y
	}
	return x
}
