package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// joinFinishReasons writes finish reasons that came as a JSON list in a string as
// several are written: with commas between.
func joinFinishReasons(at pcommon.Map) {
	v, ok := at.Get(canon.FinishReasons)
	if !ok || v.Type() != pcommon.ValueTypeStr || !strings.HasPrefix(v.Str(), "[") {
		return
	}
	var reasons []string
	sc := cjson.Scan(v.Str())
	for sc.Array(); sc.Next(); {
		reasons = append(reasons, sc.Text())
	}
	if sc.End() {
		v.SetStr(strings.Join(reasons, ","))
	}
}
