-- Deletes attempts that were derived before the terms changed.
ALTER TABLE attempts DELETE
WHERE tenant = {tenant:String} AND version < {version:UInt64} AND expires_at < toDateTime(4291747200, 'UTC')
  AND unit IN (SELECT row FROM moved_rows WHERE tenant = {tenant:String} AND source = 'unit')
