-- Whether rows are there that an erasure has not taken yet.
SELECT count() AS n
FROM /* table */
WHERE tenant = {tenant:String} AND /* by */ IN {names:Array(String)} AND (/* also */)
