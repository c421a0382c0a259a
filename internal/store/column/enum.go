package column

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// EnumType gives the type Enum8 whose values 0, 1, 2… have these names.
func EnumType(names []string) proto.ColumnType {
	var b strings.Builder
	b.WriteString("Enum8(")
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "'%s' = %d", name, i)
	}
	b.WriteByte(')')
	return proto.ColumnType(b.String())
}

// NewEnum gives a column of an enum's type. It holds the numbers; ClickHouse
// shows the names.
func NewEnum(typ proto.ColumnType) *UInt8 { return &UInt8{typ: typ} }
