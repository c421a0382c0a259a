-- What the spans of units state that can join them.
SELECT /* columns */
FROM unit_keys
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now() AND expires_at < toDateTime(4291747200, 'UTC')
