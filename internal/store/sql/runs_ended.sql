-- Runs whose newest summary says that they ended or stalled.
SELECT run
FROM runs
WHERE tenant = {tenant:String} AND run IN {runs:Array(String)} AND expires_at > now()
GROUP BY run
HAVING toString(argMax(status, version)) IN ('ended', 'stalled') AND NOT argMax(gone, version)
