-- How many findings are open, of all tenants, by kind and severity.
SELECT toString(newest_kind) AS kind, toUInt8(newest_severity) AS severity, toInt64(count()) AS n
FROM (
    SELECT argMax(kind, version) AS newest_kind, argMax(severity, version) AS newest_severity
    FROM findings
    WHERE expires_at > now()
    GROUP BY tenant, run, id
    HAVING toString(argMax(status, version)) = 'open'
)
GROUP BY kind, severity
ORDER BY kind, severity
