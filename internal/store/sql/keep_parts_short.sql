-- Replaced parts go after this many seconds instead of 480: long enough for the
-- system to have written their successors to disk.
ALTER TABLE /* table */ MODIFY SETTING old_parts_lifetime = 35
