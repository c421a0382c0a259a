-- One page of unknown outcomes by the newest version of each: open ones first,
-- oldest first. The first evidence is the attempt itself; its target is what its
-- span states, or what the sweep derived.
SELECT id, any(run) AS of_run
FROM findings
WHERE tenant = {tenant:String} AND expires_at > now() AND kind = 'outcome.unknown'
  AND ({run:String} = '' OR run = {run:String})
  AND (empty({target:Array(String)}) OR (evidence_traces[1], evidence_spans[1]) IN (
        SELECT trace_id, span_id FROM acts
        WHERE notEmpty({target:Array(String)}) AND tenant = {tenant:String} AND target IN {target:Array(String)} AND NOT gone AND expires_at > now()
        UNION ALL
        SELECT trace_id, span_id FROM steps
        WHERE notEmpty({target:Array(String)}) AND tenant = {tenant:String} AND target IN {target:Array(String)} AND expires_at > now()
          AND unit IN (
                SELECT evidence_units[1] FROM findings
                WHERE notEmpty({target:Array(String)}) AND tenant = {tenant:String} AND kind = 'outcome.unknown' AND expires_at > now())))
GROUP BY id
HAVING toString(argMax(status, version)) IN ('open', 'resolved')
   AND ({status:String} = '' OR toString(argMax(status, version)) = {status:String})
   AND ({tool:String} = '' OR argMax(tool, version) = {tool:String})
   AND ({agent:String} = '' OR argMax(agent, version) = {agent:String})
   AND ({after_id:String} = ''
        OR (toString(argMax(status, version)) = 'resolved', argMax(detected_at, version), id)
         > ({after_resolved:UInt8}, fromUnixTimestamp64Nano({after_detected:Int64}, 'UTC'), toFixedString(unhex({after_id:String}), 16)))
ORDER BY toString(argMax(status, version)) = 'resolved', argMax(detected_at, version), id
LIMIT {limit:UInt64}
