-- What holds cover that have not ended, of a tenant.
SELECT DISTINCT job, unit, run
FROM held_units
WHERE tenant = {tenant:String}
  AND job NOT IN (SELECT id FROM holds WHERE tenant = {tenant:String} AND event IN ('released', 'ended'))
ORDER BY job, run, unit
