package store

import (
	"strconv"
	"strings"
)

// params are the values of a statement's {name:Type} placeholders, in the text
// form that ClickHouse reads for the type. Values reach the server beside the
// statement, never inside it. The set methods escape: neither clickhouse-go nor
// ch-go does.
type params map[string]string

// escapeTSV is the form in which a String parameter is read.
var escapeTSV = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)

// escapeQuoted is the form in which a string inside an array is read.
var escapeQuoted = strings.NewReplacer("\\", `\\`, "'", `\'`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)

// text sets a String.
func (p params) text(name, value string) params {
	p[name] = escapeTSV.Replace(value)
	return p
}

// texts sets an Array(String).
func (p params) texts(name string, values []string) params {
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\'')
		_, _ = escapeQuoted.WriteString(&b, v)
		b.WriteByte('\'')
	}
	b.WriteByte(']')
	p[name] = b.String()
	return p
}

// number sets an Int64 or UInt64.
func (p params) number(name string, value int64) params {
	p[name] = strconv.FormatInt(value, 10)
	return p
}

// flag sets a UInt8 used as a condition.
func (p params) flag(name string, value bool) params {
	p[name] = "0"
	if value {
		p[name] = "1"
	}
	return p
}
