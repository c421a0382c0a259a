//go:build !linux

package chhttp

import (
	"errors"

	"github.com/steptrail/steptrail/internal/engine/chdb"
)

// spool needs memfd_create. Libraries with insert streams do without it.
func spool(*chdb.Conn, *request, string) (chdb.Stats, error) {
	return chdb.Stats{}, errors.New("inserts need libchdb 26.7 or later on this system")
}
