-- Deletes the copies that a hold kept. Other partitions are not touched.
ALTER TABLE /* table */ DELETE IN PARTITION '2105-12-28'
WHERE tenant = {tenant:String} AND /* by */ IN {names:Array(String)}
