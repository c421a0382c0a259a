-- The latest event of each hold.
SELECT /* columns */
FROM holds
WHERE ({every:UInt8} = 1 OR tenant = {tenant:String})
  AND ({id:String} = '' OR id = toFixedString(unhex({id:String}), 16))
ORDER BY tenant, id, event DESC, at DESC
LIMIT 1 BY tenant, id
