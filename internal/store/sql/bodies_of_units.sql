-- Bodies of units by their hash.
SELECT unit, hash, body
FROM messages
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND expires_at > now()
  AND hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16))
LIMIT 1 BY unit, hash
