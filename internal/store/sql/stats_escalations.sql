-- Runs that were handed to a person, by why, and their share of all runs of the
-- group.
SELECT
    bucket,
    mapFilter((name, value) -> has({by:Array(String)}, name), mapUpdate(of_group, map('reason', why))) AS by_group,
    map('escalated', toFloat64(sum(n)), 'runs', toFloat64(any(all_runs)), 'share', sum(n) / any(all_runs)) AS figures
FROM (
    SELECT
        if({bucket:Int64} > 0, intDiv(toUnixTimestamp(started_at), greatest({bucket:Int64}, 1)) * {bucket:Int64}, 0) AS bucket,
        mapFilter((name, value) -> has({by:Array(String)}, name), map('task_type', toString(task_type), 'agent', toString(agent))) AS of_group,
        toString(outcome) = 'escalated' AS handed,
        if(handed, if(escalation = '', 'unstated', toString(escalation)), '') AS why,
        count() AS n,
        sum(n) OVER (PARTITION BY bucket, of_group) AS all_runs
    FROM runs FINAL
    WHERE tenant = {tenant:String} AND expires_at > now() AND NOT gone
      AND started_at >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      AND ({agent:String} = '' OR agent = {agent:String})
      AND ({task_type:String} = '' OR task_type = {task_type:String})
      AND ({model:String} = '' OR has(models, {model:String}))
      AND ({tool:String} = '' OR has(tools, {tool:String}))
    GROUP BY bucket, of_group, handed, why
)
WHERE handed
GROUP BY bucket, by_group
ORDER BY bucket, toString(by_group)
LIMIT {limit:UInt64}
