-- Which of a job's units got rows since.
SELECT DISTINCT unit
FROM run_changes
WHERE tenant = {tenant:String} AND inserted_at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
  AND unit IN (SELECT unit FROM /* table */ WHERE tenant = {tenant:String} AND job = toFixedString(unhex({id:String}), 16))
ORDER BY unit
