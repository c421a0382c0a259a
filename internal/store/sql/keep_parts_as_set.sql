-- Back to the server's own term.
ALTER TABLE /* table */ RESET SETTING old_parts_lifetime
