-- What stands in each partition of the tables with a time limit.
SELECT table, partition, sum(p.rows) AS row_count, sum(p.bytes_on_disk) AS bytes
FROM /* parts */ AS p
WHERE database = currentDatabase() AND active AND p.rows > 0 AND table IN {tables:Array(String)}
GROUP BY table, partition
