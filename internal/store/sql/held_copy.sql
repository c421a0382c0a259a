-- Copies rows of held units or runs to where they do not expire.
INSERT INTO /* table */
SELECT * REPLACE (toDateTime(4291747200, 'UTC') AS expires_at/* also */)
FROM (
    SELECT * FROM /* table */
    WHERE tenant = {tenant:String} AND /* by */ IN {names:Array(String)}
      AND expires_at > now() AND expires_at < toDateTime(4291747200, 'UTC')
      AND (/* key */) NOT IN (
          SELECT /* key */ FROM /* table */
          WHERE tenant = {tenant:String} AND /* by */ IN {names:Array(String)} AND expires_at = toDateTime(4291747200, 'UTC')
      )
    LIMIT 1 BY /* key */
)
