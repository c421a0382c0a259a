package canon

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/cjson"
)

// maxValueDepth bounds how deep a structured value is written; what lies deeper is null.
const maxValueDepth = 96

// AppendJSON appends a value as JSON: maps and lists as such, bytes as base64,
// NaN and the infinities, which JSON has no numbers for, as strings. Invalid
// UTF-8 becomes U+FFFD. A key that stands twice in a map is written twice.
func AppendJSON(dst []byte, v pcommon.Value) []byte { return appendJSON(dst, v, 0) }

func appendJSON(dst []byte, v pcommon.Value, depth int) []byte {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return cjson.AppendQuoted(dst, v.Str())
	case pcommon.ValueTypeInt:
		return strconv.AppendInt(dst, v.Int(), 10)
	case pcommon.ValueTypeDouble:
		return appendDouble(dst, v.Double())
	case pcommon.ValueTypeBool:
		return strconv.AppendBool(dst, v.Bool())
	case pcommon.ValueTypeBytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Bytes().AsRaw())
		return append(dst, '"')
	case pcommon.ValueTypeMap:
		if depth >= maxValueDepth {
			return append(dst, "null"...)
		}
		dst = append(dst, '{')
		first := true
		for k, e := range v.Map().All() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(cjson.AppendQuoted(dst, k), ':')
			dst = appendJSON(dst, e, depth+1)
		}
		return append(dst, '}')
	case pcommon.ValueTypeSlice:
		if depth >= maxValueDepth {
			return append(dst, "null"...)
		}
		dst = append(dst, '[')
		for i, e := range v.Slice().All() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, e, depth+1)
		}
		return append(dst, ']')
	default:
		return append(dst, "null"...)
	}
}

func appendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// text gives a value as text: strings as they are, the rest as JSON.
func text(v pcommon.Value) string {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return v.Str()
	case pcommon.ValueTypeEmpty:
		return ""
	default:
		return string(AppendJSON(nil, v))
	}
}

// integer reads a value as a whole number, also from a double or a string that
// is one.
func integer(v pcommon.Value) (int64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return v.Int(), true
	case pcommon.ValueTypeDouble:
		f := v.Double()
		if f != math.Trunc(f) || f < -(1<<53) || f > 1<<53 {
			return 0, false
		}
		return int64(f), true
	case pcommon.ValueTypeStr:
		n, err := strconv.ParseInt(strings.TrimSpace(v.Str()), 10, 64)
		return n, err == nil
	default:
		return 0, false
	}
}

// number reads a value as a finite double, also from a whole number or a
// string that is one.
func number(v pcommon.Value) (float64, bool) {
	var f float64
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return float64(v.Int()), true
	case pcommon.ValueTypeDouble:
		f = v.Double()
	case pcommon.ValueTypeStr:
		var err error
		if f, err = strconv.ParseFloat(strings.TrimSpace(v.Str()), 64); err != nil {
			return 0, false
		}
	default:
		return 0, false
	}
	return f, !math.IsNaN(f) && !math.IsInf(f, 0)
}

// list gives a list of strings, or a single value, joined with commas. A
// header's value comes so.
func list(v pcommon.Value) string {
	if v.Type() != pcommon.ValueTypeSlice {
		return text(v)
	}
	s := v.Slice()
	switch s.Len() {
	case 0:
		return ""
	case 1:
		return text(s.At(0))
	}
	var b strings.Builder
	for i, e := range s.All() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text(e))
	}
	return b.String()
}
