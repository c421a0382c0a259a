-- Steps, attempts and errors of runs, and how many a run has.
SELECT
    if({bucket:Int64} > 0, intDiv(toUnixTimestamp(started_at), greatest({bucket:Int64}, 1)) * {bucket:Int64}, 0) AS bucket,
    mapFilter((name, value) -> has({by:Array(String)}, name), map(
        'task_type', toString(task_type), 'agent', toString(agent), 'kind', ['think', 'read', 'act', 'human', 'reconcile', 'other'][of_kind])) AS by_group,
    mapFilter((name, value) -> isFinite(value), map(
        'runs', toFloat64(count()),
        'steps', toFloat64(sum(steps)),
        'attempts', toFloat64(sum(attempts)),
        'errors', toFloat64(sum(errors)),
        'steps_per_run', avg(steps),
        'attempts_per_run', avg(attempts),
        'steps_p50', quantileExactInclusive(0.5)(toFloat64(steps)),
        'steps_p95', quantileExactInclusive(0.95)(toFloat64(steps)),
        'attempts_per_step', sum(attempts) / sum(steps),
        'error_rate', sum(errors) / sum(attempts))) AS figures
FROM (
    SELECT *,
        arrayJoin(if(has({by:Array(String)}, 'kind'), [1, 2, 3, 4, 5, 6], [0])) AS of_kind,
        if(of_kind = 0, arraySum(kind_steps), kind_steps[of_kind + 1]) AS steps,
        if(of_kind = 0, arraySum(kind_attempts), kind_attempts[of_kind + 1]) AS attempts,
        if(of_kind = 0, arraySum(kind_errors), kind_errors[of_kind + 1]) AS errors
    FROM runs FINAL
    WHERE tenant = {tenant:String} AND expires_at > now() AND NOT gone
      AND started_at >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      AND ({agent:String} = '' OR agent = {agent:String})
      AND ({task_type:String} = '' OR task_type = {task_type:String})
      AND ({model:String} = '' OR has(models, {model:String}))
      AND ({tool:String} = '' OR has(tools, {tool:String}))
)
WHERE of_kind = 0 OR steps > 0
GROUP BY bucket, by_group
ORDER BY bucket, toString(by_group)
LIMIT {limit:UInt64}
