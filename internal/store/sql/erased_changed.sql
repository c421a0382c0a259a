-- Erased units that got rows since, with the erasures that cover them.
SELECT DISTINCT erased_units.tenant AS tenant, job, unit, run
FROM erased_units
WHERE (tenant, unit) IN (SELECT tenant, unit FROM run_changes WHERE inserted_at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC'))
UNION DISTINCT
-- and units that have come to belong to an erased run since.
SELECT DISTINCT l.tenant AS tenant, e.job AS job, l.unit AS unit, l.run AS run
FROM (
    SELECT tenant, unit, run FROM run_links
    WHERE version >= {since:Int64} AND NOT gone AND expires_at > now()
      AND (tenant, run) IN (SELECT tenant, run FROM erased_units)
      AND (tenant, unit, run) NOT IN (SELECT tenant, unit, run FROM erased_units)
) AS l
INNER JOIN (SELECT DISTINCT tenant, run, job FROM erased_units) AS e ON e.tenant = l.tenant AND e.run = l.run
UNION DISTINCT
-- and units with content that came as log records for spans of an erased unit.
SELECT DISTINCT l.tenant AS tenant, s.job AS job, l.unit AS unit, s.run AS run
FROM (
    SELECT tenant, unit, trace_id, span_id FROM log_content
    WHERE (tenant, unit) IN (SELECT tenant, unit FROM run_changes WHERE inserted_at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC'))
      AND (tenant, unit) NOT IN (SELECT tenant, unit FROM erased_units)
) AS l
INNER JOIN (
    SELECT steps.tenant AS tenant, trace_id, span_id, e.job AS job, e.run AS run
    FROM steps INNER JOIN erased_units AS e ON e.tenant = steps.tenant AND e.unit = steps.unit
    WHERE (steps.tenant, steps.unit) IN (SELECT tenant, unit FROM erased_units)
) AS s ON s.tenant = l.tenant AND s.trace_id = l.trace_id AND s.span_id = l.span_id
