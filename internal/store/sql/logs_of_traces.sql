-- Content of traces that came as log records.
SELECT /* columns */
FROM log_content
WHERE tenant = {tenant:String} AND expires_at > now()
  AND trace_id IN (SELECT toFixedString(unhex(arrayJoin({traces:Array(String)})), 16))
ORDER BY trace_id, span_id, position, output, hash
LIMIT 1 BY trace_id, span_id, position, output, hash
LIMIT {limit:UInt64}
