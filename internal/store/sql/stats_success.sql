-- How runs ended. A success rate is of the runs whose outcome a span states; a
-- failure rate, and the share of unstated outcomes, of all that ended.
SELECT
    if({bucket:Int64} > 0, intDiv(toUnixTimestamp(started_at), greatest({bucket:Int64}, 1)) * {bucket:Int64}, 0) AS bucket,
    mapFilter((name, value) -> has({by:Array(String)}, name), map(
        'task_type', toString(task_type), 'agent', toString(agent), 'model', with_model, 'prompt_version', with_prompt)) AS by_group,
    mapFilter((name, value) -> isFinite(value), map(
        'runs', toFloat64(count()),
        'ended', toFloat64(countIf(status = 'ended')),
        'stated', toFloat64(countIf(outcome_stated)),
        'success', toFloat64(countIf(outcome = 'success')),
        'failure', toFloat64(countIf(outcome = 'failure')),
        'escalated', toFloat64(countIf(outcome = 'escalated')),
        'limit', toFloat64(countIf(outcome = 'limit')),
        'paused', toFloat64(countIf(outcome = 'paused')),
        'abandoned', toFloat64(countIf(outcome = 'abandoned')),
        'unstated', toFloat64(countIf(outcome = '')),
        'success_rate', countIf(outcome = 'success' AND outcome_stated) / countIf(outcome_stated),
        'failure_rate', countIf(outcome = 'failure' AND status = 'ended') / countIf(status = 'ended'),
        'unstated_share', countIf(outcome = '' AND status = 'ended') / countIf(status = 'ended'))) AS figures
FROM (
    SELECT *,
        arrayJoin(if(has({by:Array(String)}, 'model') AND notEmpty(models), arrayMap(x -> toString(x), models), [''])) AS with_model,
        arrayJoin(if(has({by:Array(String)}, 'prompt_version') AND notEmpty(prompt_versions), arrayMap(x -> toString(x), prompt_versions), [''])) AS with_prompt
    FROM runs FINAL
    WHERE tenant = {tenant:String} AND expires_at > now() AND NOT gone
      AND started_at >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      AND ({agent:String} = '' OR agent = {agent:String})
      AND ({task_type:String} = '' OR task_type = {task_type:String})
      AND ({model:String} = '' OR has(models, {model:String}))
      AND ({tool:String} = '' OR has(tools, {tool:String}))
)
GROUP BY bucket, by_group
ORDER BY bucket, toString(by_group)
LIMIT {limit:UInt64}
