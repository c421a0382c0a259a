-- Tokens and cost by model call, where a model or a prompt's version is asked
-- for. What agent spans alone state belongs to no model and is not here.
SELECT
    if({bucket:Int64} > 0, intDiv(toUnixTimestamp(run_started), greatest({bucket:Int64}, 1)) * {bucket:Int64}, 0) AS bucket,
    mapFilter((name, value) -> has({by:Array(String)}, name), map(
        'task_type', toString(task_type), 'agent', toString(run_agent), 'model', toString(model), 'prompt_version', toString(prompt_version))) AS by_group,
    map(
        'runs', toFloat64(uniqExact(run)),
        'runs_with_tokens', toFloat64(uniqExactIf(run, tokens_known)),
        'runs_with_cost', toFloat64(uniqExactIf(run, cost_source != '')),
        'operation_cost_usd', sumIf(toFloat64(cost_nano), is_last) / 1e9,
        'attempt_cost_usd', sum(toFloat64(cost_nano)) / 1e9,
        'attempt_cost_usd_per_run', sum(toFloat64(cost_nano)) / 1e9 / uniqExact(run),
        'operation_input', toFloat64(sumIf(tokens_input, is_last)),
        'operation_output', toFloat64(sumIf(tokens_output, is_last)),
        'attempt_input', toFloat64(sum(tokens_input)),
        'attempt_output', toFloat64(sum(tokens_output)),
        'attempt_cache_read', toFloat64(sum(tokens_cache_read)),
        'attempt_cache_write', toFloat64(sum(tokens_cache_write)),
        'attempt_reasoning', toFloat64(sum(tokens_reasoning)),
        'attempt_tokens_per_run', sum(tokens_input + tokens_output) / uniqExact(run)) AS figures
FROM (
    SELECT *, row_number() OVER (PARTITION BY run, step_id ORDER BY attempt DESC, started_at DESC, ended_at DESC, trace_id DESC, span_id DESC, part DESC) = 1 AS is_last
    FROM (
    SELECT a.*, r.run_started AS run_started
    FROM (SELECT * FROM attempts FINAL WHERE tenant = {tenant:String} AND expires_at > now() AND started_at >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')) AS a
    INNER JOIN (
        SELECT run, version, started_at AS run_started
        FROM runs FINAL
        WHERE tenant = {tenant:String} AND expires_at > now() AND NOT gone
          AND started_at >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Nano({to:Int64}, 'UTC')
          AND ({agent:String} = '' OR agent = {agent:String})
          AND ({task_type:String} = '' OR task_type = {task_type:String})
    ) AS r ON a.run = r.run AND a.version = r.version
    )
    WHERE tokens_known OR cost_source != ''
)
WHERE ({model:String} = '' OR model = {model:String})
  AND ({tool:String} = '' OR tool = {tool:String})
GROUP BY bucket, by_group
ORDER BY bucket, toString(by_group)
LIMIT {limit:UInt64}
