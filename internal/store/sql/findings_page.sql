-- One page of findings by the newest version of each, newest first; the rows
-- themselves are read afterwards.
SELECT id, any(run) AS of_run
FROM findings
WHERE tenant = {tenant:String} AND expires_at > now()
  AND ({id:String} = '' OR id = toFixedString(unhex({id:String}), 16))
  AND (empty({runs:Array(String)}) OR run IN {runs:Array(String)})
GROUP BY id
HAVING argMax(detected_at, version) >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
   AND argMax(detected_at, version) < fromUnixTimestamp64Nano({to:Int64}, 'UTC')
   AND ({kind:String} = '' OR argMax(kind, version) = {kind:String})
   AND ({kind_prefix:String} = '' OR startsWith(argMax(kind, version), {kind_prefix:String}))
   AND ({status:String} = '' OR toString(argMax(status, version)) = {status:String})
   AND ({severity:String} = '' OR toString(argMax(severity, version)) = {severity:String})
   AND ({tool:String} = '' OR argMax(tool, version) = {tool:String})
   AND ({agent:String} = '' OR argMax(agent, version) = {agent:String})
   AND ({after_id:String} = ''
        OR (argMax(detected_at, version), id) < (fromUnixTimestamp64Nano({after_detected:Int64}, 'UTC'), toFixedString(unhex({after_id:String}), 16)))
ORDER BY argMax(detected_at, version) DESC, id DESC
LIMIT {limit:UInt64}
