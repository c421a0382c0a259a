-- What people wrote about outcomes of erased units. What they decided stays.
ALTER TABLE resolutions UPDATE actor = '', note = '' WHERE tenant = {tenant:String} AND unit IN {names:Array(String)}
