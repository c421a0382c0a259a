-- Units of a tenant with rows newer than the summary of their run, newest
-- first. What the sweep passed over in the quarter of an hour before its last
-- word is no run.
WITH
    (SELECT max(version) FROM runs) AS swept,
    changed AS (
        SELECT unit, toUnixTimestamp64Nano(max(inserted_at)) AS at
        FROM run_changes
        WHERE tenant = {tenant:String} AND inserted_at > now() - INTERVAL 2 DAY
        GROUP BY unit
        HAVING at > toInt64(swept) - {settled:Int64}
    ),
    summed AS (
        SELECT unit, max(version) AS version
        FROM runs
        ARRAY JOIN units AS unit
        WHERE tenant = {tenant:String} AND expires_at > now()
          AND run IN (SELECT run FROM run_links WHERE tenant = {tenant:String} AND unit IN (SELECT unit FROM changed))
        GROUP BY unit
    )
SELECT changed.unit AS unit
FROM changed LEFT JOIN summed ON summed.unit = changed.unit
WHERE changed.at > toInt64(summed.version)
ORDER BY changed.at DESC, unit
LIMIT {limit:UInt64}
