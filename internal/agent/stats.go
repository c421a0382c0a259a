package agent

// Statistic is one kind of figures over many runs.
type Statistic string

// Values of Statistic: the paths of the API.
const (
	StatSuccess     Statistic = "success"
	StatEscalations Statistic = "escalations"
	StatCost        Statistic = "cost"
	StatSteps       Statistic = "steps"
	StatToolErrors  Statistic = "tool_errors"
	StatLatency     Statistic = "latency"
	StatFindings    Statistic = "findings"
	StatTokens      Statistic = "tokens"
)

// Statistics lists them, each with what it can be grouped by.
func Statistics() map[Statistic][]string {
	return map[Statistic][]string{
		StatSuccess:     {"task_type", "agent", "model", "prompt_version"},
		StatEscalations: {"task_type", "agent", "reason"},
		StatCost:        {"task_type", "agent", "model", "prompt_version"},
		StatSteps:       {"task_type", "agent", "kind"},
		StatToolErrors:  {"task_type", "agent", "tool", "kind", "error_type"},
		StatLatency:     {"task_type", "agent", "tool", "kind", "model", "prompt_version"},
		StatFindings:    {"task_type", "agent", "tool", "kind", "severity", "status"},
		StatTokens:      {"task_type", "agent", "model", "prompt_version"},
	}
}

// StatsFilter selects what figures are made of, and how it is grouped. Zero
// fields select nothing away.
type StatsFilter struct {
	From     int64 // Unix nanoseconds, of the run's start (findings: of the detection); inclusive
	To       int64 // exclusive
	Bucket   int64 // seconds, aligned to the epoch; 0: all in one
	By       []string
	Agent    string
	TaskType string
	Tool     string
	Model    string
	Limit    int // rows
}

// StatsRow is the figures of one group in one bucket. A figure that cannot be
// told, as a rate of nothing, is absent.
type StatsRow struct {
	Bucket  int64 // Unix seconds of its begin; 0 without buckets
	Group   map[string]string
	Figures map[string]float64
}
