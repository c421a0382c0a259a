package chhttp

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/steptrail/steptrail/internal/engine/chdb"
)

// spool is for libraries without insert streams: the data goes to an anonymous
// file in memory, which the engine reads by its number.
func spool(conn *chdb.Conn, req *request, format string) (chdb.Stats, error) {
	fd, err := unix.MemfdCreate("insert", unix.MFD_CLOEXEC)
	if err != nil {
		return chdb.Stats{}, fmt.Errorf("create a file in memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), "insert")
	defer func() { _ = file.Close() }()
	if _, err := io.Copy(file, req.data); err != nil {
		return chdb.Stats{}, bodyError(err)
	}
	result, err := conn.Query(fmt.Sprintf("%s SELECT * FROM file('/proc/self/fd/%d', %s)",
		req.statement.Text, fd, format), "Null", req.params...)
	if err != nil {
		return chdb.Stats{}, err
	}
	defer result.Close()
	return result.Stats(), nil
}
