-- What the rules need of the messages of units.
SELECT /* columns */
FROM message_facts
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now()
ORDER BY unit, hash, expires_at DESC
LIMIT 1 BY unit, hash
