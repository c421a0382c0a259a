-- Distinct spans of units, the newest copy of each.
SELECT /* columns */
FROM steps
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now()
ORDER BY unit, started_at, trace_id, span_id, received_at DESC
LIMIT 1 BY unit, trace_id, span_id
LIMIT {limit:UInt64}
