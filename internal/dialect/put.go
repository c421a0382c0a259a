package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/cjson"
)

// putNew writes a text under a name that has no value yet.
func putNew(at pcommon.Map, key, value string) {
	if value == "" {
		return
	}
	if v, there := at.GetOrPutEmpty(key); !there {
		v.SetStr(value)
	}
}

// putMissing closes a list and writes it under a name that has no value yet; an
// empty one is none.
func putMissing(at pcommon.Map, key string, list []byte) {
	if len(list) == 0 {
		return
	}
	if _, there := at.Get(key); !there {
		at.PutStr(key, string(append(list, ']')))
	}
}

// putMember writes a member of a JSON object under a name that has no value yet;
// one: it is a message, to be written as a list.
func putMember(at pcommon.Map, name, object, member string, one bool) {
	if object == "" {
		return
	}
	if _, there := at.Get(name); there {
		return
	}
	found := ""
	sc := cjson.Scan(object)
	for sc.Object(); sc.Next(); {
		if sc.Key() == member {
			found = sc.Raw()
		}
	}
	if !sc.End() || found == "" || found == "null" {
		return
	}
	if one {
		found = "[" + found + "]"
	}
	at.PutStr(name, found)
}
