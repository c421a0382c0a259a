-- The newest version of all findings of runs.
SELECT /* columns */
FROM findings
WHERE tenant = {tenant:String} AND run IN {runs:Array(String)} AND expires_at > now()
ORDER BY run, id, version DESC
LIMIT 1 BY run, id
