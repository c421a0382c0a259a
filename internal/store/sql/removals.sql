-- The certificate of an erasure. What was interrupted and begun again counts once.
SELECT min(at) AS first_at, source, rows, digest
FROM removals
WHERE tenant = {tenant:String} AND job = toFixedString(unhex({id:String}), 16)
GROUP BY source, rows, digest
ORDER BY first_at, source, digest
