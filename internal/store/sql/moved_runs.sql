-- Deletes summaries that were derived before the terms changed.
ALTER TABLE runs DELETE
WHERE tenant = {tenant:String} AND version < {version:UInt64} AND NOT gone AND expires_at < toDateTime(4291747200, 'UTC')
  AND run IN (
      SELECT run FROM run_links
      WHERE tenant = {tenant:String} AND unit IN (SELECT row FROM moved_rows WHERE tenant = {tenant:String} AND source = 'unit')
  )
