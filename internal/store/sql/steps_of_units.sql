-- Distinct spans of units, the newest copy of each; beside it the one that a hold
-- keeps.
SELECT /* columns */
FROM steps
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now()
ORDER BY unit, started_at, trace_id, span_id, received_at DESC, erased DESC, content_expires_at DESC, expires_at
LIMIT 1 BY unit, trace_id, span_id, expires_at = toDateTime(4291747200, 'UTC')
LIMIT {limit:UInt64}
