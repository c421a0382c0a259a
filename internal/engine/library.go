package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// LibraryEnv names the environment variable with the path of the library.
const LibraryEnv = "CHDB_LIB_PATH"

// libraryInPackage is where npm puts the library, seen from a folder with
// node_modules.
const libraryInPackage = "node_modules/@chdb/lib-linux-x64-gnu/libchdb.so"

// ErrLibraryNotFound is in the error of FindLibrary and Start where there is no
// libchdb.so.
var ErrLibraryNotFound = errors.New("the embedded engine's library was not found")

// FindLibrary looks for libchdb.so: in CHDB_LIB_PATH and, where that is not
// set, in node_modules beside the executable and in each folder above it, then
// likewise from each folder of also. The working directory is not searched: a
// library from there would be code of whoever owns it.
func FindLibrary(also ...string) (string, error) {
	if path := os.Getenv(LibraryEnv); path != "" {
		if isFile(path) {
			return path, nil
		}
		return "", notFound([]string{LibraryEnv + "=" + path})
	}
	folders := also
	if executable, err := os.Executable(); err == nil {
		folders = append([]string{filepath.Dir(executable)}, also...)
	}
	tried := []string{LibraryEnv + " (not set)"}
	for _, folder := range folders {
		for {
			path := filepath.Join(folder, libraryInPackage)
			if isFile(path) {
				return path, nil
			}
			tried = append(tried, path)
			parent := filepath.Dir(folder)
			if parent == folder {
				break
			}
			folder = parent
		}
	}
	return "", notFound(tried)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func notFound(tried []string) error {
	return fmt.Errorf("%w; tried:\n  %s\nrun `make engine` (or `npm ci --ignore-scripts`) in the source folder, or set %s to the path of libchdb.so",
		ErrLibraryNotFound, strings.Join(tried, "\n  "), LibraryEnv)
}
