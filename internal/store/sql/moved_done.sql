-- Nothing is left to delete.
ALTER TABLE moved_rows DELETE WHERE tenant = {tenant:String}
