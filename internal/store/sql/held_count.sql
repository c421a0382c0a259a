-- How many copies of units or runs a hold keeps.
SELECT count() AS n
FROM /* table */
WHERE tenant = {tenant:String} AND /* by */ IN {names:Array(String)} AND expires_at = toDateTime(4291747200, 'UTC')
