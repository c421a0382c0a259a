-- Units with a span that a selector may mean, among those that got rows since.
SELECT DISTINCT unit
FROM (
    SELECT unit FROM steps
    WHERE tenant = {tenant:String} AND expires_at > now() AND inserted_at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
      AND multiIf({scope:String} = 'user', user IN {subjects:Array(String)},
                  {scope:String} = 'target', target IN {subjects:Array(String)},
                  {scope:String} = 'time', started_at < fromUnixTimestamp64Nano({to:Int64}, 'UTC')
                      AND greatest(started_at, ended_at) >= fromUnixTimestamp64Nano({from:Int64}, 'UTC'),
                  unit IN {subjects:Array(String)})
    UNION ALL
    SELECT unit FROM attempts
    WHERE {scope:String} = 'target' AND tenant = {tenant:String} AND expires_at > now()
      AND version >= {since:Int64} AND target IN {subjects:Array(String)}
)
ORDER BY unit
