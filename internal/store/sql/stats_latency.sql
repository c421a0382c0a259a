-- How long executed attempts took that have a span, in milliseconds; percentiles
-- are exact, interpolated between neighbours.
SELECT
    if({bucket:Int64} > 0, intDiv(toUnixTimestamp(run_started), greatest({bucket:Int64}, 1)) * {bucket:Int64}, 0) AS bucket,
    mapFilter((name, value) -> has({by:Array(String)}, name), map(
        'task_type', toString(task_type), 'agent', toString(run_agent), 'tool', toString(tool), 'kind', toString(kind), 'model', toString(model),
        'prompt_version', toString(prompt_version))) AS by_group,
    map(
        'attempts', toFloat64(count()),
        'avg_ms', avg(took),
        'p50_ms', quantileExactInclusive(0.5)(took),
        'p95_ms', quantileExactInclusive(0.95)(took),
        'p99_ms', quantileExactInclusive(0.99)(took),
        'max_ms', max(took)) AS figures
FROM (
    SELECT *, greatest(toUnixTimestamp64Nano(ended_at) - toUnixTimestamp64Nano(started_at), 0) / 1e6 AS took
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
    WHERE executed AND NOT no_span
)
WHERE ({tool:String} = '' OR tool = {tool:String})
  AND ({model:String} = '' OR model = {model:String})
GROUP BY bucket, by_group
ORDER BY bucket, toString(by_group)
LIMIT {limit:UInt64}
