-- Count and digest of the rows that an erasure takes from a table.
SELECT count() AS n, SHA256(arrayStringConcat(arraySort(groupArray(hex(SHA256(formatRow('RowBinary', *))))))) AS digest
FROM /* table */
WHERE tenant = {tenant:String} AND /* by */ IN {names:Array(String)} AND (/* also */)
