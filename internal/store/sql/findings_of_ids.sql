-- The newest version of findings.
SELECT /* columns */
FROM findings
WHERE tenant = {tenant:String} AND run IN {runs:Array(String)} AND expires_at > now()
  AND id IN (SELECT toFixedString(unhex(arrayJoin({ids:Array(String)})), 16))
ORDER BY id, version DESC
LIMIT 1 BY id
