-- Parts that were replaced up to a time and still lie on disk.
SELECT count() AS n
FROM /* parts */
WHERE database = currentDatabase() AND table IN {tables:Array(String)} AND NOT active AND remove_time <= fromUnixTimestamp({until:Int64})
