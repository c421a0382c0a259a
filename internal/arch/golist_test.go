package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

const modulePrefix = "github.com/steptrail/steptrail/"

// listed is what the tests need of one package, as `go list -json` prints it.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	GoFiles    []string
	Imports    []string
	Deps       []string
	Module     *struct{ Path string }
}

// listAll runs `go list -deps` once for all tests: every package of this module and all that they depend on.
// -e: a package that does not compile is reported by its own build, and its arrows are checked all the same.
var listAll = sync.OnceValues(func() ([]listed, error) {
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Dir,Standard,GoFiles,Imports,Deps,Module", modulePrefix+"...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(err, errors.New(stderr.String()))
	}
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg listed
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, pkg)
	}
})

// ourPackages returns the packages of this module.
func ourPackages(t *testing.T) []listed {
	t.Helper()
	all, err := listAll()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var ours []listed
	for _, pkg := range all {
		if strings.HasPrefix(pkg.ImportPath, modulePrefix) {
			ours = append(ours, pkg)
		}
	}
	if len(ours) == 0 {
		t.Fatal("go list found no package of this module")
	}
	return ours
}

// relative returns an import path of this module without the module's path.
func relative(importPath string) string { return strings.TrimPrefix(importPath, modulePrefix) }
