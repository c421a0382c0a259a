// Package schema holds the tables of the store as goose migrations, embedded in
// the binary. It knows no connection and runs nothing: internal/store does.
//
//	migrations/NNNN_name.sql → Migrations(database, cluster) → goose
//
// Every statement is safe to run again, and a migration is never edited after
// its release. README.md draws the tables; docs/adr/005 to 007 argue them, 009
// the fronts of a cluster.
package schema

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
)

//go:embed migrations/*.sql
var files embed.FS

// plainName is what may stand as a name in a statement.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// localSuffix is what a table that holds rows is called by in a cluster, after
// its front's name.
const localSuffix = "_local"

// Migrations gives the migrations as a flat file system, for a single server
// where cluster is empty. With a cluster each table is a replicated one named
// NAME_local, and NAME is its front over all shards. On a single server both
// statements name one table, and the second finds it and does nothing. The
// variables in the files are those that goose's own command reads from the
// environment; here they are filled in without touching it.
func Migrations(database, cluster string) (fs.FS, error) {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	if !plainName.MatchString(database) {
		return nil, fmt.Errorf("database: %q is no name: want letters, digits and underscores", database)
	}
	vars := map[string]string{
		"STEPTRAIL_LOCAL": "", "STEPTRAIL_ON_CLUSTER": "", "STEPTRAIL_REPLICATED": "",
		"STEPTRAIL_CLUSTER": "default", "STEPTRAIL_DATABASE": database,
	}
	if cluster != "" {
		if !plainName.MatchString(cluster) {
			return nil, fmt.Errorf("cluster: %q is no name: want letters, digits and underscores", cluster)
		}
		vars["STEPTRAIL_LOCAL"] = localSuffix
		vars["STEPTRAIL_ON_CLUSTER"] = "ON CLUSTER `" + cluster + "`"
		vars["STEPTRAIL_REPLICATED"] = "Replicated"
		vars["STEPTRAIL_CLUSTER"] = cluster
	}
	return rendered{sub, vars}, nil
}

// Local is the name of the table that holds the rows of table on a server: what
// ALTER and DELETE work on, which a front does not take.
func Local(table, cluster string) string {
	if cluster == "" {
		return table
	}
	return table + localSuffix
}

// Front is the name that statements know a table on a server by.
func Front(local, cluster string) string {
	if cluster == "" {
		return local
	}
	return strings.TrimSuffix(local, localSuffix)
}

// rendered is a file system whose files have their variables filled in.
type rendered struct {
	fs.FS
	vars map[string]string
}

var _ fs.GlobFS = rendered{}

// variable is ${NAME:-default}.
var variable = regexp.MustCompile(`\$\{([A-Z_]+):-[a-z]*\}`)

// Glob implements fs.GlobFS.
func (r rendered) Glob(pattern string) ([]string, error) { return fs.Glob(r.FS, pattern) }

// Open implements fs.FS.
func (r rendered) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return f, err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	s := variable.ReplaceAllStringFunc(string(text), func(found string) string {
		name := variable.FindStringSubmatch(found)[1]
		if value, ok := r.vars[name]; ok {
			return value
		}
		return found // and goose says so
	})
	return &file{File: f, Reader: bytes.NewReader([]byte(s)), size: int64(len(s))}, nil
}

// file is an embedded file with other content.
type file struct {
	fs.File
	*bytes.Reader
	size int64
}

func (f *file) Read(p []byte) (int, error) { return f.Reader.Read(p) }

func (f *file) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return fileInfo{info, f.size}, err
}

type fileInfo struct {
	fs.FileInfo
	size int64
}

func (i fileInfo) Size() int64 { return i.size }
