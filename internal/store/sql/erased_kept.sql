-- Units of all tenants that an erasure covers and a hold keeps, whole runs of it.
WITH
    live AS (SELECT tenant, unit, run FROM held_units WHERE (tenant, job) NOT IN (SELECT tenant, id FROM holds WHERE event IN ('released', 'ended'))),
    kept AS (
        SELECT tenant, run FROM live
        UNION DISTINCT
        SELECT tenant, run FROM erased_units WHERE (tenant, unit) IN (SELECT tenant, unit FROM live)
    )
SELECT DISTINCT tenant, unit
FROM erased_units
WHERE (tenant, run) IN (SELECT tenant, run FROM kept) OR (tenant, unit) IN (SELECT tenant, unit FROM live)
