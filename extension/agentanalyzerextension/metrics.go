package agentanalyzerextension

import "github.com/steptrail/steptrail/internal/meter"

// scopeName is the scope of the metrics below.
const scopeName = "github.com/steptrail/steptrail/extension/agentanalyzerextension"

// seconds are the buckets of times that models, tools and sweeps take.
var seconds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900}

// described are all metrics of the extension: first what agents did, then what
// is open, then the sweep itself.
var described = []meter.Metric{
	{
		Name: "steptrail_runs", Kind: meter.Counter, Unit: "{run}", Labels: []string{"task_type", "agent", "outcome"},
		Description: "Runs that ended or stalled, by how they ended (unstated where nothing tells).",
	},
	{
		Name: "steptrail_escalations", Kind: meter.Counter, Unit: "{run}", Labels: []string{"task_type", "reason"},
		Description: "Runs that ended with an escalation to a person, by its reason.",
	},
	{
		Name: "steptrail_steps", Kind: meter.Counter, Unit: "{step}", Labels: []string{"kind", "outcome", "tool", "agent"},
		Description: "Steps, by the outcome of their last attempt when they were first judged.",
	},
	{
		Name: "steptrail_attempts", Kind: meter.Counter, Unit: "{attempt}", Labels: []string{"kind", "outcome", "tool", "agent"},
		Description: "Attempts, by outcome when they were first judged; nothing ran in those that were refused or deferred.",
	},
	{
		Name: "steptrail_step_duration", Kind: meter.Histogram, Unit: "s", Labels: []string{"kind"}, Buckets: seconds,
		Description: "Time from the start of a step's first attempt to the end of its last, where it ran.",
	},
	{
		Name: "steptrail_tool_duration", Kind: meter.Histogram, Unit: "s", Labels: []string{"tool"}, Buckets: seconds,
		Description: "Time of one executed attempt of a tool that has a span.",
	},
	{
		Name: "steptrail_tokens", Kind: meter.Counter, Unit: "{token}", Labels: []string{"model", "agent", "type"},
		Description: "Tokens of all attempts, by type: input and output; cache_read, cache_write and reasoning are parts of them.",
	},
	{
		Name: "steptrail_cost_usd", Kind: meter.Counter, Unit: "{USD}", Labels: []string{"model", "agent", "source"},
		Description: "Cost of all attempts in USD, reported by the sender or computed from the policy's prices.",
	},
	{
		Name: "steptrail_labels_other", Kind: meter.Counter, Unit: "{value}", Labels: []string{"label"},
		Description: "Times that a label became _other, because its metric has as many values as are allowed.",
	},
	{
		Name: "steptrail_open_findings", Kind: meter.Gauge, Unit: "{finding}", Labels: []string{"kind", "severity"},
		Description: "Findings that are open now, of all tenants, read from the store every few seconds; not there while it cannot be read.",
	},
	{
		Name: "steptrail_unknowns_open", Kind: meter.Gauge, Unit: "{finding}",
		Description: "Acts whose outcome is unknown and that nothing has settled, on classified tools and others.",
	},
	{
		Name: "steptrail_unknowns_overdue", Kind: meter.Gauge, Unit: "{finding}",
		Description: "Those among them that are older than the policy's detection.unknown_sla, on classified tools.",
	},
	{
		Name: "steptrail_open_reads", Kind: meter.Counter, Unit: "{read}", Labels: []string{"result"},
		Description: "Tries to read what is open, by result (ok, error).",
	},
	{
		Name: "steptrail_sweeps", Kind: meter.Counter, Unit: "{sweep}", Labels: []string{"result"},
		Description: "Sweeps over stored history, by result (ok, error).",
	},
	{Name: "steptrail_sweep_runs", Kind: meter.Counter, Unit: "{run}", Description: "Runs judged by the sweep, each as often as it is judged."},
	{Name: "steptrail_sweep_spans", Kind: meter.Counter, Unit: "{span}", Description: "Spans that judged runs were derived from."},
	{
		Name: "steptrail_sweep_findings", Kind: meter.Counter, Unit: "{finding}",
		Description: "Findings that the sweep wrote: new, changed, confirmed or withdrawn.",
	},
	{Name: "steptrail_sweep_findings_withdrawn", Kind: meter.Counter, Unit: "{finding}", Description: "Findings that the sweep took back."},
	{
		Name: "steptrail_sweep_groups_truncated", Kind: meter.Counter, Unit: "{group}",
		Description: "Groups of units larger than the store loads at once, judged in part.",
	},
	{Name: "steptrail_sweep_duration", Kind: meter.Histogram, Unit: "s", Buckets: seconds, Description: "Wall time of one sweep."},
	{Name: "steptrail_sweep_pending", Kind: meter.Gauge, Unit: "{unit}", Description: "Changed units that wait to be quiet."},
	{
		Name: "steptrail_sweep_lag", Kind: meter.Gauge, Unit: "s",
		Description: "How much longer than the quiet period the oldest changed unit has waited; it grows also while sweeps fail.",
	},
	{Name: "steptrail_holds", Kind: meter.Gauge, Unit: "{hold}", Description: "Holds that have not ended."},
	{Name: "steptrail_erasures_open", Kind: meter.Gauge, Unit: "{erasure}", Description: "Erasures that are not done."},
	{Name: "steptrail_erasures_waiting", Kind: meter.Gauge, Unit: "{erasure}", Description: "Erasures that wait for the end of a hold."},
}
