-- Rows of a table by the week they are due, tenant and class.
SELECT toString(toMonday(expires_at)) AS week, tenant, toString(/* by */) AS class, count() AS rows,
       toInt64(toUnixTimestamp(min(expires_at))) AS first_due, toInt64(toUnixTimestamp(max(expires_at))) AS last_due
FROM /* table */
GROUP BY week, tenant, class
ORDER BY week, tenant, class
