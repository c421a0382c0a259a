-- Acts under idempotency keys. The newest word on each is looked for among all
-- rows of its place in the sort key, since a later one may carry another key.
SELECT /* columns */
FROM acts
WHERE tenant = {tenant:String} AND expires_at > now()
  AND (target, started_at, trace_id, span_id, part) IN (
      SELECT target, started_at, trace_id, span_id, part
      FROM acts
      WHERE tenant = {tenant:String} AND key IN {keys:Array(String)} AND expires_at > now()
  )
ORDER BY target, started_at, trace_id, span_id, part, version DESC
LIMIT 1 BY target, started_at, trace_id, span_id, part
