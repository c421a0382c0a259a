package main

func costs() dash {
	return dash{
		uid: "steptrail-cost", title: "Steptrail / Cost and models",
		text: "What runs cost, by model and prompt version over time. What a change changed is not told here yet.",
		panels: []panel{
			{title: "Cost", as: asStat, unit: usd, w: 6, h: 4, sql: total("stats_usage_runs", "attempt_cost_usd"), text: "All attempts of the runs shown. Reported by the sender, else computed from the policy's prices."},
			{title: "Cost without retries", as: asStat, unit: usd, w: 6, h: 4, sql: total("stats_usage_runs", "operation_cost_usd"), text: "The last attempt of each step. The difference to Cost is what retries took."},
			{title: "Tokens per run", as: asStat, unit: plain, w: 6, h: 4, sql: total("stats_usage_runs", "attempt_tokens_per_run"), text: "Input and output. Rises: contexts grow; look for context.bloat among the findings."},
			{title: "Runs with a known cost", as: asStat, unit: plain, w: 6, h: 4, sql: total("stats_usage_runs", "runs_with_cost"), text: "Fewer than there are runs: add prices for their models to the policy."},
			{title: "Cost by model", as: asLines, unit: usd, w: 12, h: 8, sql: series("stats_usage_models", "attempt_cost_usd", "model"), text: "A new line is a new model. A line that grows while runs do not: see tokens per run."},
			{title: "Cost by prompt version", as: asLines, unit: usd, w: 12, h: 8, sql: series("stats_usage_models", "attempt_cost_usd", "prompt_version"), text: "One version takes over from the other at a release. none: agents do not send agent.prompt.version."},
			{title: "Cost per run by task type", toDash: "steptrail-overview", as: asLines, unit: usd, w: 12, h: 8, sql: series("stats_usage_runs", "attempt_cost_usd_per_run", "task_type"), text: "Compare with what the task is worth. A step up: look at the versions beside."},
			{title: "Input tokens by model", as: asLines, unit: plain, w: 12, h: 8, sql: series("stats_usage_models", "attempt_input", "model"), text: "All attempts, cached ones included. Steady growth: history is sent whole with every call."},
			{title: "Models", as: asTable, unit: plain, w: 12, h: 9, units: map[string]string{"attempt_cost_usd": usd, "operation_cost_usd": usd, "attempt_cost_usd_per_run": usd}, sql: rows("stats_usage_models", []string{"model", "prompt_version"}, "attempt_cost_usd", "operation_cost_usd", "attempt_cost_usd_per_run", "attempt_input", "attempt_output", "attempt_cache_read", "runs"), text: "By model and prompt version. Few cached tokens with long inputs: the beginning of the prompt changes from call to call."},
			{title: "Success by model and prompt version", toDash: "steptrail-overview", as: asTable, unit: plain, w: 12, h: 9, units: map[string]string{"success_rate": share, "failure_rate": share}, sql: rows("stats_success", []string{"model", "prompt_version"}, "runs", "success_rate", "failure_rate"), text: "A run counts under each model and version that it has. Cheaper and as good: move the task; the runs may differ in kind, so compare within a task type."},
			{title: "Latency by model", as: asTable, unit: plain, w: 24, h: 8, units: map[string]string{"p50_ms": millis, "p95_ms": millis, "p99_ms": millis}, sql: rows("stats_latency", []string{"model"}, "attempts", "p50_ms", "p95_ms", "p99_ms"), text: "Model calls; the line without a model is everything else. Slow and dear: try the smaller one on one task type."},
		},
	}
}
