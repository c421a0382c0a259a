package store

import (
	"errors"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/clickhouse-go/v2"
)

// ErrNotFound says that the tenant has nothing of that id, or no longer has it.
var ErrNotFound = errors.New("not found")

// Permanent reports whether an insert that failed so would fail again however
// often it is repeated, because the server read the block and refuses what is
// in it. Everything else (no connection, no memory, too many parts, no disk, a
// table that is not there yet) is worth another try: what was acknowledged must
// not be thrown away.
func Permanent(err error) bool {
	switch serverCode(err) {
	case 6, // CANNOT_PARSE_TEXT
		16,  // NO_SUCH_COLUMN_IN_TABLE
		20,  // NUMBER_OF_COLUMNS_DOESNT_MATCH
		26,  // CANNOT_PARSE_QUOTED_STRING
		27,  // CANNOT_PARSE_INPUT_ASSERTION_FAILED
		33,  // CANNOT_READ_ALL_DATA
		53,  // TYPE_MISMATCH
		62,  // SYNTAX_ERROR
		70,  // CANNOT_CONVERT_TYPE
		117, // INCORRECT_DATA
		128, // TOO_LARGE_ARRAY_SIZE
		131, // TOO_LARGE_STRING_SIZE
		190, // SIZES_OF_ARRAYS_DONT_MATCH
		349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
		691: // UNKNOWN_ELEMENT_OF_ENUM
		return true
	}
	return false
}

// serverCode is the code of the server's exception, 0 where it is none.
func serverCode(err error) int {
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		return int(e.Code)
	}
	if e, ok := errors.AsType[*ch.Exception](err); ok {
		return int(e.Code)
	}
	return 0
}
