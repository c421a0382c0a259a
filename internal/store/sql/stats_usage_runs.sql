-- Tokens and cost by run: per operation (the last attempt of each step) and per
-- attempt (all of them). What agent spans alone state is in both, once.
SELECT
    if({bucket:Int64} > 0, intDiv(toUnixTimestamp(started_at), greatest({bucket:Int64}, 1)) * {bucket:Int64}, 0) AS bucket,
    mapFilter((name, value) -> has({by:Array(String)}, name), map('task_type', toString(task_type), 'agent', toString(agent))) AS by_group,
    map(
        'runs', toFloat64(count()),
        'runs_with_tokens', toFloat64(countIf(attempt_tokens_known)),
        'runs_with_cost', toFloat64(countIf(attempt_cost_source != '')),
        'operation_cost_usd', sum(toFloat64(operation_cost_nano)) / 1e9,
        'attempt_cost_usd', sum(toFloat64(attempt_cost_nano)) / 1e9,
        'attempt_cost_usd_per_run', sum(toFloat64(attempt_cost_nano)) / 1e9 / count(),
        'operation_input', toFloat64(sum(operation_tokens_input)),
        'operation_output', toFloat64(sum(operation_tokens_output)),
        'attempt_input', toFloat64(sum(attempt_tokens_input)),
        'attempt_output', toFloat64(sum(attempt_tokens_output)),
        'attempt_cache_read', toFloat64(sum(attempt_tokens_cache_read)),
        'attempt_cache_write', toFloat64(sum(attempt_tokens_cache_write)),
        'attempt_reasoning', toFloat64(sum(attempt_tokens_reasoning)),
        'attempt_tokens_per_run', sum(attempt_tokens_input + attempt_tokens_output) / count()) AS figures
FROM runs FINAL
WHERE tenant = {tenant:String} AND expires_at > now() AND NOT gone
  AND started_at >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Nano({to:Int64}, 'UTC')
  AND ({agent:String} = '' OR agent = {agent:String})
  AND ({task_type:String} = '' OR task_type = {task_type:String})
  AND ({model:String} = '' OR has(models, {model:String}))
  AND ({tool:String} = '' OR has(tools, {tool:String}))
GROUP BY bucket, by_group
ORDER BY bucket, toString(by_group)
LIMIT {limit:UInt64}
