-- The newest word on which units a run has spans in.
SELECT /* columns */
FROM run_links
WHERE tenant = {tenant:String} AND run = {run:String} AND expires_at > now()
ORDER BY unit, version DESC
LIMIT 1 BY unit
