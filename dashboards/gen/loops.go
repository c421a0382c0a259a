package main

const circles = "startsWith(kind, 'loop.')"

func loops() dash {
	return dash{
		uid: "steptrail-loops", title: "Steptrail / Loops and limits",
		text: "Agents that go in circles, and what the policy's limits caught.",
		panels: []panel{
			{title: "Loops", as: asStat, unit: plain, w: 6, h: 4, sql: countFindings(circles), text: "Equal calls again and again, cycles, hand-offs in a ring, stalls. Not 0: open a run below and see what the model was told after the first repetition."},
			{title: "Limits broken", as: asStat, unit: plain, w: 6, h: 4, sql: countFindings("startsWith(kind, 'limit.')"), text: "Steps, tool calls, tokens, time or cost beyond the policy. A limit that is broken daily is too low, or its task too large."},
			{title: "Cost of loops", as: asStat, unit: usd, w: 6, h: 4, sql: waste("sum(toFloat64(waste_cost_nano)) / 1e9 AS usd"), text: "What the repeated part cost. Compare with the cost of a run before you raise a limit."},
			{title: "Repeated attempts", as: asStat, unit: plain, w: 6, h: 4, sql: waste("sum(waste_attempts) AS attempts"), text: "Attempts of the repeated part. Each is time that the person who asked has waited."},
			{title: "Loops by kind", as: asLines, unit: plain, w: 12, h: 8, sql: findingsOverTime(circles), text: "loop.repeat: tell the model that the result will not change. loop.cycle, loop.handoff: two agents send each other work. loop.stall: nothing new comes in."},
			{title: "Limits by kind", as: asLines, unit: plain, w: 12, h: 8, sql: findingsOverTime("startsWith(kind, 'limit.') OR kind = 'retry.storm'"), text: "Which limit is met. retry.storm stands here too: attempts beyond limits.attempts."},
			{title: "Steps per run", as: asLines, unit: plain, w: 12, h: 8, sql: figuresOverTime("stats_steps", "steps_per_run", "steps_p50", "steps_p95"), text: "The p95 rises before the average does: long runs are the first that loop."},
			{title: "Runs ended by a limit", as: asLines, unit: plain, w: 12, h: 8, sql: series("stats_success", "limit", "task_type"), text: "Runs that a framework's limit of turns or calls ended. The person got no answer: raise it only if the run made progress."},
			{title: "By tool", as: asTable, unit: plain, w: 12, h: 9, sql: findingsBy(circles + " OR startsWith(kind, 'limit.')"), text: "A tool that is polled wants a repeat threshold of its own in the policy; any other wants a better answer."},
			{title: "Attempts per step", as: asTable, unit: plain, w: 12, h: 9, units: map[string]string{"error_rate": share}, sql: rows("stats_steps", []string{"agent", "kind"}, "attempts", "steps", "attempts_per_step", "error_rate"), text: "More than one: retries. By agent and kind of step."},
			{title: "Newest loops and broken limits", as: asTable, unit: plain, w: 24, h: 10, toRun: true, units: map[string]string{"waste_cost_usd": usd}, sql: findings(circles + " OR startsWith(kind, 'limit.')"), text: "With what the repeated part took. Click a run to see the steps before the first repetition."},
		},
	}
}

func waste(what string) string {
	return `SELECT ` + what + `
FROM findings FINAL
WHERE tenant = ` + value("tenant") + ` AND expires_at > now() AND status != 'withdrawn' AND $__timeFilter_ms(detected_at)
  AND ` + isOneOf("agent", "agent") + ` AND ` + isOneOf("tool", "tool") + `
  AND startsWith(kind, 'loop.')`
}
