package enginetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// HostEnv names the environment variable with a program that hosts the engine,
// for test binaries that run where there is no go command.
const HostEnv = "STEPTRAIL_TEST_ENGINE_HOST"

// buildHost builds enginehost once per process and returns its path. It is kept
// in the module's .cache, where `go build` finds that nothing has changed.
var buildHost = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(HostEnv); path != "" {
		return path, nil
	}
	module, err := root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(module, ".cache", "enginetest")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	path := filepath.Join(dir, "enginehost")
	build := exec.Command("go", "build", "-o", path, "./internal/engine/enginetest/enginehost")
	build.Dir = module
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return path, nil
})

// lockFile keeps other test binaries from building at the same time.
func lockFile(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}
