-- Every version of the links of units.
SELECT /* columns */
FROM run_links
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND NOT gone AND expires_at > now() AND expires_at < toDateTime(4291747200, 'UTC')
