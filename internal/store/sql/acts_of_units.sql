-- Acts whose naming span is in units.
SELECT /* columns */
FROM acts
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now()
ORDER BY target, started_at, trace_id, span_id, part, version DESC
LIMIT 1 BY target, started_at, trace_id, span_id, part
