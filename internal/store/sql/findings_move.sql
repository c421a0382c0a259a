-- Writes findings again that the policy now gives another term.
INSERT INTO findings
SELECT * EXCEPT (due) REPLACE (due AS expires_at)
FROM (
    SELECT *, toDateTime(least(toUnixTimestamp(detected_at) + {term:Int64}, 4291747199), 'UTC') AS due
    FROM findings
    WHERE tenant = {tenant:String} AND detected_at >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
      AND findings.expires_at != due AND findings.expires_at < toDateTime(4291747200, 'UTC')
)
