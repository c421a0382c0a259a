-- Whom an erasure was about. The digest stays.
ALTER TABLE erasures UPDATE subject = '' WHERE tenant = {tenant:String} AND id = toFixedString(unhex({id:String}), 16)
