-- Whether a run was taken into another one.
SELECT gone, merged_into
FROM runs
WHERE tenant = {tenant:String} AND run = {run:String} AND expires_at > now()
ORDER BY version DESC
LIMIT 1
