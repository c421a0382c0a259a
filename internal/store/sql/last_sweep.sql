-- The newest version that a sweep wrote.
SELECT max(version) AS version
FROM run_links
