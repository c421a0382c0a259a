-- Units whose rows have moved and are not deleted yet.
SELECT DISTINCT row FROM moved_rows WHERE tenant = {tenant:String} AND source = 'unit' ORDER BY row
