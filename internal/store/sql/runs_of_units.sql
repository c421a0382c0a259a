-- Every run that has, or had, spans in units.
SELECT DISTINCT run
FROM run_links
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)}
ORDER BY run
