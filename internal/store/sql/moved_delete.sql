-- Deletes the rows that stand there again with another term.
ALTER TABLE /* table */ DELETE
WHERE tenant = {tenant:String} AND (/* key */) IN (SELECT row FROM moved_rows WHERE tenant = {tenant:String} AND source = '/* table */')
