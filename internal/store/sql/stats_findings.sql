-- Findings by the newest version of each, by when they were detected; withdrawn
-- ones left out.
SELECT
    if({bucket:Int64} > 0, intDiv(toUnixTimestamp(detected_at), greatest({bucket:Int64}, 1)) * {bucket:Int64}, 0) AS bucket,
    mapFilter((name, value) -> has({by:Array(String)}, name), map(
        'task_type', toString(task_type), 'agent', toString(agent), 'tool', toString(tool), 'kind', toString(kind), 'severity', toString(severity),
        'status', toString(status))) AS by_group,
    map(
        'findings', toFloat64(count()),
        'open', toFloat64(countIf(status = 'open')),
        'resolved', toFloat64(countIf(status = 'resolved')),
        'runs', toFloat64(uniqExact(run)),
        'waste_attempts', toFloat64(sum(waste_attempts)),
        'waste_tokens', toFloat64(sum(waste_tokens)),
        'waste_duration_ms', sum(toFloat64(waste_duration)) / 1e6,
        'waste_cost_usd', sum(toFloat64(waste_cost_nano)) / 1e9) AS figures
FROM (
    SELECT f.*, r.run_task_type AS task_type
    FROM (SELECT * FROM findings FINAL WHERE tenant = {tenant:String} AND expires_at > now() AND status != 'withdrawn'
        AND detected_at >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND detected_at < fromUnixTimestamp64Nano({to:Int64}, 'UTC')) AS f
    LEFT JOIN (
        SELECT run, task_type AS run_task_type, models AS run_models
        FROM runs FINAL
        WHERE tenant = {tenant:String} AND expires_at > now() AND NOT gone
    ) AS r ON f.run = r.run
    WHERE ({model:String} = '' OR has(run_models, {model:String}))
)
WHERE ({agent:String} = '' OR agent = {agent:String})
  AND ({task_type:String} = '' OR task_type = {task_type:String})
  AND ({tool:String} = '' OR tool = {tool:String})
GROUP BY bucket, by_group
ORDER BY bucket, toString(by_group)
LIMIT {limit:UInt64}
