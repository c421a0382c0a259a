-- Which units a token stands in, and in what role; those that began first where
-- a token stands in too many.
SELECT token, role, service, unit
FROM unit_keys
WHERE tenant = {tenant:String} AND token IN {tokens:Array(String)} AND expires_at > now()
GROUP BY token, role, service, unit
ORDER BY token, min(started_at), unit, role
LIMIT {per_token:UInt64} BY token
