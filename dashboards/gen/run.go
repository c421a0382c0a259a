package main

var thisRun = "tenant = " + value("tenant") + " AND run = " + value("run") + " AND expires_at > now()"

func oneRun() dash {
	ofRun := func(columns, order string) string {
		return `SELECT ` + columns + `
FROM attempts FINAL
WHERE ` + thisRun + ` AND version = (SELECT max(version) FROM runs WHERE ` + thisRun + `)
ORDER BY ` + order
	}
	summary := func(columns string) string {
		return "SELECT " + columns + "\nFROM runs FINAL\nWHERE " + thisRun + " AND NOT gone"
	}
	return dash{
		uid: "steptrail-run", title: "Steptrail / Run", run: true,
		text: "One run by its id: its steps, attempts, findings, unknown outcomes, tokens and cost. Its whole history, with content: ${api}/api/v1/runs/${run:percentencode}/history",
		panels: []panel{
			{title: "The run", as: asTable, unit: plain, w: 24, h: 5, units: map[string]string{"duration_ms": millis}, sql: summary("started_at AS time, toString(status) AS status, if(outcome = '', 'unstated', toString(outcome)) AS outcome, escalation, agent, task_type, user, session, " +
				"(toUnixTimestamp64Nano(ended_at) - toUnixTimestamp64Nano(started_at)) / 1e6 AS duration_ms, arrayStringConcat(models, ', ') AS models, arrayStringConcat(prompt_versions, ', ') AS prompt_versions, policy_hash"), text: "As the sweep last judged it. No row: the id is wrong, the tenant is, or the run has expired. The whole history: the link above."},
			{title: "Cost", as: asStat, unit: usd, w: 6, h: 4, sql: summary("attempt_cost_nano / 1e9 AS usd"), text: "All attempts. More than other runs of its task: look for repetitions below."},
			{title: "Tokens", as: asStat, unit: plain, w: 6, h: 4, sql: summary("attempt_tokens_input + attempt_tokens_output AS tokens"), text: "Input and output of all attempts."},
			{title: "Steps", as: asStat, unit: plain, w: 6, h: 4, sql: summary("arraySum(kind_steps) AS steps"), text: "Distinct steps with an attempt that ran. Far above the task's average: it went in circles."},
			{title: "Unknown outcomes open", as: asStat, unit: plain, w: 6, h: 4, sql: summary("unknown_open"), text: "Acts that may have happened. Look them up and settle them before anything is run again."},
			{title: "Findings", as: asTable, unit: plain, w: 24, h: 8, units: map[string]string{"waste_duration_ms": millis, "waste_cost_usd": usd}, sql: `SELECT detected_at AS time, kind, toString(severity) AS severity, toString(status) AS status, step_id, tool, message,
    waste_attempts, waste_duration / 1e6 AS waste_duration_ms, waste_tokens, waste_cost_nano / 1e9 AS waste_cost_usd, lower(hex(id)) AS finding
FROM findings FINAL
WHERE ` + thisRun + ` AND status != 'withdrawn'
ORDER BY severity DESC, detected_at`, text: "What was found, the worst first. The message says what happened and what is asked for."},
			{title: "Steps and attempts", as: asTable, unit: plain, w: 24, h: 14, units: map[string]string{"duration_ms": millis, "cost_usd": usd}, sql: ofRun("started_at AS time, step_id, attempt, toString(kind) AS kind, tool, model, target, toString(outcome) AS outcome, executed, toString(gate) AS gate, key, error_type, "+
				"(toUnixTimestamp64Nano(ended_at) - toUnixTimestamp64Nano(started_at)) / 1e6 AS duration_ms, tokens_input, tokens_output, cost_nano / 1e9 AS cost_usd, lane, lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span", "started_at, ended_at, trace_id, span_id, part"), text: "In order. Two rows of one step are two attempts; equal keys make them one effect. Refused ones ran nothing."},
			{title: "Unknown outcomes", as: asTable, unit: plain, w: 12, h: 8, sql: `SELECT detected_at AS time, tool, toString(status) AS status, toString(severity) AS severity, message, lower(hex(id)) AS finding
FROM findings FINAL
WHERE ` + thisRun + ` AND kind = 'outcome.unknown' AND status != 'withdrawn'
ORDER BY detected_at`, text: "Settle an open one by its id: POST /api/v1/unknowns/{finding}/resolution."},
			{title: "Tokens by model", as: asTable, unit: plain, w: 12, h: 8, units: map[string]string{"cost_usd": usd}, sql: `SELECT model, prompt_version, count() AS attempts, sum(tokens_input) AS input, sum(tokens_output) AS output, sum(tokens_cache_read) AS cached, sum(toFloat64(cost_nano)) / 1e9 AS cost_usd
FROM attempts FINAL
WHERE ` + thisRun + ` AND version = (SELECT max(version) FROM runs WHERE ` + thisRun + `) AND op = 'model'
GROUP BY model, prompt_version
ORDER BY cost_usd DESC`, text: "All attempts of model calls. What an agent's span alone states is in the figures above only."},
			{title: "How long each attempt took", as: asLines, unit: millis, w: 24, h: 8, sql: ofRun("started_at AS time, if(tool != '', toString(tool), toString(kind)) AS what, (toUnixTimestamp64Nano(ended_at) - toUnixTimestamp64Nano(started_at)) / 1e6 AS took", "time"), text: "A gap is time in which nobody did anything. A long one before a retry is a timeout: its outcome may be unknown."},
		},
	}
}
