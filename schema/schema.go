// Package schema holds the tables of the store as goose migrations, embedded in
// the binary. It knows no connection and runs nothing: internal/store does.
//
//	migrations/NNNN_name.sql → Migrations(cluster) → goose
//
// A migration is one statement, safe to run again, and is never edited after
// its release. README.md draws the tables; docs/adr/005 to 007 argue them.
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

// clusterName is what may stand as a cluster's name in a statement.
var clusterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// Migrations gives the migrations as a flat file system, for a single server
// where cluster is empty, else for replicated tables on that cluster. The
// variables in the files are those that goose's own command reads from the
// environment; here they are filled in without touching it.
func Migrations(cluster string) (fs.FS, error) {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	vars := map[string]string{"STEPTRAIL_ON_CLUSTER": "", "STEPTRAIL_REPLICATED": ""}
	if cluster != "" {
		if !clusterName.MatchString(cluster) {
			return nil, fmt.Errorf("cluster: %q is no name: want letters, digits and underscores", cluster)
		}
		vars["STEPTRAIL_ON_CLUSTER"] = "ON CLUSTER `" + cluster + "`"
		vars["STEPTRAIL_REPLICATED"] = "Replicated"
	}
	return rendered{sub, vars}, nil
}

// rendered is a file system whose files have their variables filled in.
type rendered struct {
	fs.FS
	vars map[string]string
}

var _ fs.GlobFS = rendered{}

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
	s := string(text)
	for name, value := range r.vars {
		s = strings.ReplaceAll(s, "${"+name+":-}", value)
	}
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
