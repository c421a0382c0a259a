-- Content of units that came as log records.
SELECT /* columns */
FROM log_content
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now()
LIMIT 1 BY trace_id, span_id, position, output, hash
