-- As runs_page, oldest first: one page of runs by the newest version of each; the rows themselves are read
-- afterwards. A filter with its neutral value costs nothing.
SELECT run, max(runs.version) AS newest
FROM runs
WHERE tenant = {tenant:String} AND expires_at > now()
GROUP BY run
HAVING NOT argMax(gone, version)
   AND argMax(started_at, version) >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
   AND argMax(started_at, version) < fromUnixTimestamp64Nano({to:Int64}, 'UTC')
   AND ({trace:String} = '' OR has(argMax(traces, version), toFixedString(unhex({trace:String}), 16)))
   AND ({agent:String} = '' OR argMax(agent, version) = {agent:String})
   AND ({task_type:String} = '' OR argMax(task_type, version) = {task_type:String})
   AND ({status:String} = '' OR toString(argMax(status, version)) = {status:String})
   AND ({outcome:String} = '' OR toString(argMax(outcome, version)) = {outcome:String})
   AND ({unstated:UInt8} = 0 OR toString(argMax(outcome, version)) = '')
   AND ({finding:String} = '' OR mapContains(argMax(findings, version), {finding:String}))
   AND ({tool:String} = '' OR has(argMax(tools, version), {tool:String}))
   AND (empty({target:Array(String)}) OR hasAny(argMax(targets, version), {target:Array(String)}))
   AND (empty({user:Array(String)}) OR has({user:Array(String)}, argMax(user, version)))
   AND (empty({session:Array(String)}) OR has({session:Array(String)}, argMax(session, version)))
   AND ({model:String} = '' OR has(argMax(models, version), {model:String}))
   AND ({prompt_version:String} = '' OR has(argMax(prompt_versions, version), {prompt_version:String}))
   AND ({scenario:String} = '' OR argMax(scenario, version) = {scenario:String})
   AND ({after_run:String} = ''
        OR (argMax(started_at, version), run) > (fromUnixTimestamp64Nano({after_started:Int64}, 'UTC'), {after_run:String}))
ORDER BY argMax(started_at, version), run
LIMIT {limit:UInt64}
