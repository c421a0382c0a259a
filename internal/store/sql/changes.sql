-- Units with new rows, of all tenants.
SELECT tenant, unit, sum(rows) AS rows, max(inserted_at) AS inserted_at
FROM run_changes
WHERE run_changes.inserted_at >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND run_changes.inserted_at < fromUnixTimestamp64Nano({to:Int64}, 'UTC')
GROUP BY tenant, unit
ORDER BY inserted_at, tenant, unit
