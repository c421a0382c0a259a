-- Deletes findings that have another term than the policy gives them.
ALTER TABLE findings DELETE
WHERE tenant = {tenant:String} AND detected_at >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND expires_at < toDateTime(4291747200, 'UTC')
  AND expires_at != toDateTime(least(toUnixTimestamp(detected_at) + {term:Int64}, 4291747199), 'UTC')
