// Package engine runs the real ClickHouse (libchdb) in a child process of the
// same binary, for people who have no server.
//
// It knows processes: finding the library, one owner per data directory, start,
// restart after a crash, and that parent and child end together. It knows no
// tables and no statements; those go through clickhouse-go, for which Options
// gives the address.
//
//	Start → child: ChildMain → chdb (the library) ← chhttp (HTTP on a socket)
//	Options → clickhouse-go → the socket of the child that lives now
package engine
