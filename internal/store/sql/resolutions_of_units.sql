-- What people said of attempts of the units, in the order in which it counts.
-- Few rows: no index by unit.
SELECT /* columns */
FROM resolutions
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now()
ORDER BY resolved_at, id
LIMIT 1 BY id
