-- Every copy of the rows of units that no hold keeps.
SELECT /* columns */
FROM steps
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now() AND expires_at < toDateTime(4291747200, 'UTC')
