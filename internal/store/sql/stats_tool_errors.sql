-- Executed attempts of tools, by what came of them; refused and deferred ones,
-- in which nothing ran, beside them.
SELECT
    if({bucket:Int64} > 0, intDiv(toUnixTimestamp(run_started), greatest({bucket:Int64}, 1)) * {bucket:Int64}, 0) AS bucket,
    mapFilter((name, value) -> has({by:Array(String)}, name), map(
        'task_type', toString(task_type), 'agent', toString(run_agent), 'tool', toString(tool), 'kind', toString(kind), 'error_type', toString(error_type))) AS by_group,
    mapFilter((name, value) -> isFinite(value), map(
        'attempts', toFloat64(countIf(executed)),
        'ok', toFloat64(countIf(executed AND outcome = 'ok')),
        'error', toFloat64(countIf(executed AND outcome = 'error')),
        'unknown', toFloat64(countIf(executed AND outcome = 'unknown')),
        'refused', toFloat64(countIf(outcome = 'refused')),
        'deferred', toFloat64(countIf(outcome = 'deferred')),
        'error_rate', countIf(executed AND outcome IN ('error', 'unknown')) / countIf(executed))) AS figures
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
WHERE tool != '' AND kind IN ('read', 'act', 'reconcile')
  AND ({tool:String} = '' OR tool = {tool:String})
  AND ({model:String} = '' OR model = {model:String})
GROUP BY bucket, by_group
ORDER BY bucket, toString(by_group)
LIMIT {limit:UInt64}
