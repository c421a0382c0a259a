-- The newest summary of runs.
SELECT /* columns */
FROM runs
WHERE tenant = {tenant:String} AND run IN {runs:Array(String)} AND expires_at > now()
ORDER BY run, version DESC
LIMIT 1 BY run
