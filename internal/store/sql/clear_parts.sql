-- Has the table look now for replaced parts whose term is over: there is no such
-- partition.
ALTER TABLE /* table */ DROP PARTITION ID 'none'
