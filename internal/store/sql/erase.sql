-- Deletes what an erasure takes from a table, by writing the parts anew.
ALTER TABLE /* table */ DELETE
WHERE tenant = {tenant:String} AND /* by */ IN {names:Array(String)} AND (/* also */)
