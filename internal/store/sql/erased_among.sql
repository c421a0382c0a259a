-- How many of the units an erasure covers.
SELECT count() AS n
FROM erased_units
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)}
