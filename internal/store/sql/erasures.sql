-- The newest word on each erasure.
SELECT /* columns */
FROM erasures
WHERE ({every:UInt8} = 1 OR tenant = {tenant:String})
  AND ({id:String} = '' OR id = toFixedString(unhex({id:String}), 16))
ORDER BY tenant, id, at DESC, event DESC
LIMIT 1 BY tenant, id
