-- Erased units of all tenants that were noted since.
SELECT tenant, unit, max(full) AS full
FROM erased_units
WHERE at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
GROUP BY tenant, unit
