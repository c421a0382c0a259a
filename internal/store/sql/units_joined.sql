-- Units that now belong to runs which a job covers, and are not covered yet.
SELECT DISTINCT run_links.unit AS unit, run_links.run AS run
FROM run_links
WHERE tenant = {tenant:String} AND expires_at > now() AND NOT gone
  AND run IN (SELECT run FROM /* table */ WHERE tenant = {tenant:String} AND job = toFixedString(unhex({id:String}), 16))
  AND (unit, run) NOT IN (SELECT unit, run FROM /* table */ WHERE tenant = {tenant:String} AND job = toFixedString(unhex({id:String}), 16))
ORDER BY run, unit
