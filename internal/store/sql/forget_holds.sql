-- Whom ended holds named that covered erased units.
ALTER TABLE holds UPDATE subject = ''
WHERE tenant = {tenant:String} AND scope IN ('target', 'user')
  AND has({ids:Array(String)}, lower(hex(id)))
