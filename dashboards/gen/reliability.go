package main

const duplicates = "kind IN ('key.duplicate', 'effect.duplicate')"

func reliability() dash {
	return dash{
		uid: "steptrail-reliability", title: "Steptrail / Reliability",
		text: "Whether anything was done twice, and what nobody knows the outcome of.",
		panels: []panel{
			{title: "Duplicates", as: asStat, unit: plain, w: 6, h: 4, sql: countFindings(duplicates), text: "One act executed twice. Not 0: open the run, see which of the two counts, and undo the other; then see why the key did not stop it."},
			{title: "Unknown outcomes open", as: asStat, unit: plain, w: 6, h: 4, sql: countFindings("kind = 'outcome.unknown' AND status = 'open'"), text: "Acts that may have happened. Look each up in the system behind the tool, and settle it: POST /api/v1/unknowns/{id}/resolution. Do not run them again before."},
			{title: "Unsafe retries", as: asStat, unit: plain, w: 6, h: 4, sql: countFindings("kind = 'outcome.unsafe_retry'"), text: "An act ran again after an unknown outcome without the same key or a look. Check whether both took effect; give the tool on_unknown in the policy."},
			{title: "Retry storms", as: asStat, unit: plain, w: 6, h: 4, sql: countFindings("kind = 'retry.storm'"), text: "Steps with more attempts than the policy allows. Back off, or stop after a few; see which tool below."},
			{title: "Duplicates, unsafe retries, storms", as: asLines, unit: plain, w: 12, h: 8, sql: findingsOverTime(duplicates + " OR kind IN ('outcome.unsafe_retry', 'retry.storm', 'retry.drift', 'key.collision', 'key.drift')"), text: "A jump after a release: roll it back. A jump without one: a downstream service lost answers; see unknown outcomes."},
			{title: "Unknown outcomes, and how they were settled", as: asLines, unit: plain, w: 12, h: 8, sql: settled(), text: "open: nobody knows yet. person: settled through the API. run: a look, a replay under the same key or a person in the run settled it. Open ones that pile up: the tool has no reconcile_with."},
			{title: "By tool", as: asTable, unit: plain, w: 12, h: 9, sql: findingsBy(duplicates + " OR kind IN ('outcome.unknown', 'outcome.unsafe_retry', 'retry.storm', 'key.missing')"), text: "Which tool to mend first. key.missing beside duplicates: the tool takes keys and gets none."},
			{title: "Keys missing, by tool", as: asTable, unit: plain, w: 12, h: 9, sql: findingsBy("kind = 'key.missing'"), text: "Acts without an idempotency key, once per run and tool. Send one: a retry after a lost answer is safe only under the same key."},
			{title: "Unknown outcomes by tool", as: asLines, unit: plain, w: 12, h: 8, sql: series("stats_tool_errors", "unknown", "tool"), text: "Attempts that ended without proof either way. One tool: its timeout is shorter than its service; several at once: the network."},
			{title: "Tool errors by kind of error", as: asTable, unit: plain, w: 12, h: 8, units: map[string]string{"error_rate": share}, sql: rows("stats_tool_errors", []string{"tool", "error_type"}, "error", "unknown", "attempts", "error_rate"), text: "What the tools answer. 429: slow down. 4xx: the model's arguments. Timeouts: outcomes that nobody knows."},
			{title: "Open unknown outcomes", as: asTable, unit: plain, w: 24, h: 9, toRun: true, units: map[string]string{"waste_cost_usd": usd}, sql: findings("kind = 'outcome.unknown' AND status = 'open'"), text: "Oldest first matters: those past the policy's unknown_sla are critical. Click the run, then settle by the id in the last column."},
			{title: "Newest duplicates and unsafe retries", as: asTable, unit: plain, w: 24, h: 9, toRun: true, units: map[string]string{"waste_cost_usd": usd}, sql: findings(duplicates + " OR kind = 'outcome.unsafe_retry'"), text: "Each with the run that did it. The message names tool and target."},
		},
	}
}

func countFindings(where string) string {
	return `SELECT count() AS findings
FROM findings FINAL
WHERE tenant = ` + value("tenant") + ` AND expires_at > now() AND status != 'withdrawn' AND $__timeFilter_ms(detected_at)
  AND ` + isOneOf("agent", "agent") + ` AND ` + isOneOf("tool", "tool") + `
  AND (` + where + `)`
}

// settled counts unknown outcomes by who settled them.
func settled() string {
	return `SELECT $__timeInterval(detected_at) AS time,
    multiIf(status = 'open', 'open', id IN (SELECT finding FROM resolutions WHERE tenant = ` + value("tenant") + ` AND expires_at > now()), 'person', 'run') AS settled_by,
    count() AS outcomes
FROM findings FINAL
WHERE tenant = ` + value("tenant") + ` AND expires_at > now() AND kind = 'outcome.unknown' AND status != 'withdrawn' AND $__timeFilter_ms(detected_at)
  AND ` + isOneOf("agent", "agent") + ` AND ` + isOneOf("tool", "tool") + `
GROUP BY time, settled_by
ORDER BY time, settled_by`
}
