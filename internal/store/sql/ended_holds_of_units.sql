-- Ended holds that covered units, and still name somebody.
SELECT DISTINCT lower(hex(job)) AS id
FROM held_units
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)}
  AND job IN (SELECT id FROM holds WHERE tenant = {tenant:String} AND event = 'ended' AND scope IN ('target', 'user') AND subject != '')
ORDER BY id
