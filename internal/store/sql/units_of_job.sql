-- What a hold or an erasure covers.
SELECT DISTINCT unit, run
FROM /* table */
WHERE tenant = {tenant:String} AND job = toFixedString(unhex({id:String}), 16)
ORDER BY run, unit
