package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

const (
	binaryVariable = "STEPTRAIL_BIN"
	// engineVariable is the switch of all tests that need the embedded engine: "required" fails without it, "skip" leaves
	// them out, anything else skips them where the library is not installed.
	engineVariable = "STEPTRAIL_TEST_ENGINE"
	enginePackage  = "node_modules/@chdb/lib-linux-x64-gnu"
)

// Binary returns the path of the program under test. Without STEPTRAIL_BIN it is built, once per test process, to
// bin/steptrail, from where it finds the engine's library.
func Binary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(binaryVariable); path != "" {
		return path
	}
	path, err := build()
	if err != nil {
		t.Fatalf("build the program under test: %v", err)
	}
	return path
}

var build = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", "steptrail")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, "./cmd/steptrail")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// RequireEngine skips or fails the test where the embedded engine is not installed, as STEPTRAIL_TEST_ENGINE says.
func RequireEngine(t testing.TB) {
	t.Helper()
	mode := os.Getenv(engineVariable)
	if mode == "skip" {
		t.Skip(engineVariable + "=skip")
	}
	if os.Getenv("CHDB_LIB_PATH") != "" {
		return
	}
	root, err := moduleRoot()
	if err == nil {
		_, err = os.Stat(filepath.Join(root, enginePackage))
	}
	switch {
	case err == nil:
	case mode == "required":
		t.Fatalf("the embedded engine is not installed (make engine): %v", err)
	default:
		t.Skipf("the embedded engine is not installed (make engine): %v", err)
	}
}

// moduleRoot returns the folder of go.mod, which is the working directory of a test or above it.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in the working directory or above it")
		}
		dir = parent
	}
}

// Shared returns the path of a file in the folder shared/ beside the module, which holds data too large for it, and
// skips the test where that is absent.
func Shared(t testing.TB, name string) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "..", "shared", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared data is absent: %v", err)
	}
	return path
}
