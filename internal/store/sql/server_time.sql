-- The server's clock.
SELECT toUInt64(toUnixTimestamp(now())) AS n
