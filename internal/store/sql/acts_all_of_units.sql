-- Every version of the acts of units.
SELECT /* columns */
FROM acts
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND NOT gone AND expires_at > now() AND expires_at < toDateTime(4291747200, 'UTC')
