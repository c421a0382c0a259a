package main

import (
	"maps"
	"slices"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// Units of Grafana.
const (
	share   = "percentunit"
	usd     = "currencyUSD"
	millis  = "ms"
	seconds = "s"
	plain   = "short"
	persec  = "reqps"
	inBytes = "bytes"
)

func overview() dash {
	return dash{
		uid: "steptrail-overview", title: "Steptrail / Overview",
		text: "Whether agents succeed, what they cost, which tools fail, and what was found.",
		panels: []panel{
			{title: "Success rate", as: asStat, unit: share, w: 4, h: 4, sql: total("stats_success", "success_rate"), text: "Of the runs whose outcome a span states. Falls: look at the table by task type, then at the findings of that task. Empty: no agent states outcomes; set agent.run.outcome on its root span."},
			{title: "Failure rate", as: asStat, unit: share, w: 4, h: 4, sql: total("stats_success", "failure_rate"), text: "Runs that ended in failure, of all that ended, stated or derived. Rises: open the failing task type and read a run."},
			{title: "Unstated", as: asStat, unit: share, w: 4, h: 4, sql: total("stats_success", "unstated_share"), text: "Ended runs of which nothing tells how they ended. High: the success rate speaks for few runs; have the agent state its outcome."},
			{title: "Runs", as: asStat, unit: plain, w: 4, h: 4, sql: total("stats_success", "runs"), text: "Runs that began in the time shown. Drops to nothing: agents stopped, or ingest did: see Steptrail itself."},
			{title: "Cost per run", as: asStat, unit: usd, w: 4, h: 4, sql: total("stats_usage_runs", "attempt_cost_usd_per_run"), toDash: "steptrail-cost", text: "All attempts, reported or computed from the policy's prices. Rises: see Cost and models. Nothing: no prices and no reported cost."},
			{title: "Steps per run", as: asStat, unit: plain, w: 4, h: 4, sql: total("stats_steps", "steps_per_run"), toDash: "steptrail-loops", text: "Distinct steps, on average. Rises without new work: agents go in circles; see Loops and limits."},
			{title: "Success rate by task type", as: asLines, unit: share, w: 12, h: 8, sql: series("stats_success", "success_rate", "task_type"), text: "A task that falls alone points to its tools or prompt; all together to a model or provider. Choose the task type above and look at its findings."},
			{title: "Escalations by reason", as: asLines, unit: plain, w: 12, h: 8, sql: series("stats_escalations", "escalated", "reason"), text: "Runs handed to a person, by why. A reason that grows: read one such run; a limit may be too low, or a tool may be down."},
			{title: "Task types", as: asTable, unit: plain, w: 12, h: 8, units: map[string]string{"success_rate": share, "failure_rate": share, "unstated_share": share}, sql: rows("stats_success", []string{"task_type"}, "runs", "success_rate", "failure_rate", "unstated_share", "escalated", "limit"), text: "Each task type with how its runs ended. Begin with the one with the most runs and the highest failure rate."},
			{title: "Steps and cost by task type", as: asLines, unit: usd, w: 12, h: 8, toDash: "steptrail-cost", sql: series("stats_usage_runs", "attempt_cost_usd_per_run", "task_type"), text: "Average cost of a run by task type, all attempts. A step up without a change of model: more steps or longer contexts; see Cost and models."},
			{title: "Tool error rate", as: asLines, unit: share, w: 12, h: 8, toDash: "steptrail-reliability", sql: series("stats_tool_errors", "error_rate", "tool"), text: "Executed attempts that ended in an error or an unknown outcome. One tool: its service. Unknown outcomes matter most: see Reliability."},
			{title: "Tools", as: asTable, unit: plain, w: 12, h: 8, units: map[string]string{"error_rate": share}, toDash: "steptrail-reliability", sql: rows("stats_tool_errors", []string{"tool"}, "attempts", "error_rate", "error", "unknown", "refused"), text: "Tools by use. Sort by unknown: each may have happened, and must be looked up before it is run again."},
			{title: "Latency of steps", as: asLines, unit: millis, w: 12, h: 8, sql: figuresOverTime("stats_latency", "p50_ms", "p95_ms", "p99_ms"), text: "Executed attempts of models and tools. p99 alone: one tool or a few timeouts; all three: a provider. See the table beside."},
			{title: "Latency by tool", as: asTable, unit: plain, w: 12, h: 8, units: map[string]string{"p50_ms": millis, "p95_ms": millis, "p99_ms": millis}, sql: rows("stats_latency", []string{"kind", "tool"}, "attempts", "p50_ms", "p95_ms", "p99_ms"), text: "The slowest tool is where a timeout first becomes an unknown outcome. Raise its timeout or give it a key before it is tried again."},
			{title: "Average steps by task type", as: asLines, unit: plain, w: 12, h: 8, toDash: "steptrail-loops", sql: series("stats_steps", "steps_per_run", "task_type"), text: "Distinct steps of a run. A rise with equal results: see Loops and limits."},
			{title: "Findings over time", as: asLines, unit: plain, w: 12, h: 8, toDash: "steptrail-reliability", sql: findingsOverTime("1 = 1"), text: "By when they were detected, withdrawn ones left out. Critical kinds are on Reliability; a new kind after a release is a reason to roll back."},
			{title: "Newest findings", as: asTable, unit: plain, w: 24, h: 9, toRun: true, units: map[string]string{"waste_cost_usd": usd}, sql: findings("1 = 1"), text: "Click a run to see all that it did. Critical ones first: something may have been done twice."},
		},
	}
}
