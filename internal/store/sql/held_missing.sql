-- How many rows of held units or runs have no copy yet.
SELECT uniqExact(/* key */) AS n
FROM /* table */
WHERE tenant = {tenant:String} AND /* by */ IN {names:Array(String)}
  AND expires_at > now() AND expires_at < toDateTime(4291747200, 'UTC')
  AND (/* key */) NOT IN (
      SELECT /* key */ FROM /* table */
      WHERE tenant = {tenant:String} AND /* by */ IN {names:Array(String)} AND expires_at = toDateTime(4291747200, 'UTC')
  )
