-- The newest word on which runs have spans in units.
SELECT /* columns */
FROM run_links
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now()
ORDER BY unit, run, version DESC
LIMIT 1 BY unit, run
