package column

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// NewEnum gives a column of type Enum8 for the values 0 to n-1, whose names
// name tells. It holds the numbers; ClickHouse shows the names.
func NewEnum(n int, name func(uint8) string) *UInt8 {
	var b strings.Builder
	b.WriteString("Enum8(")
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "'%s' = %d", name(uint8(i)), i) //nolint:gosec // n is below 128
	}
	b.WriteByte(')')
	return &UInt8{typ: proto.ColumnType(b.String())}
}
