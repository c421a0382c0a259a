-- Whom holds named that have ended, or are about to.
ALTER TABLE holds UPDATE subject = ''
WHERE tenant = {tenant:String} AND scope IN ('target', 'user')
  AND has({ids:Array(String)}, lower(hex(id)))
