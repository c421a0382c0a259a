-- Bodies of units with their terms.
SELECT /* columns */
FROM messages
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now() AND expires_at < toDateTime(4291747200, 'UTC')
