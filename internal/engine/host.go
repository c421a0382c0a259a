package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/steptrail/steptrail/internal/engine/chdb"
	"github.com/steptrail/steptrail/internal/engine/chhttp"
)

// childArg is the first argument of a child, for ChildMain and for whoever
// lists processes; childEnv says the same to Start, which must not run in one.
const (
	childArg = "engine-host"
	childEnv = "STEPTRAIL_ENGINE_HOST"
)

// File numbers that a child inherits.
const (
	controlFD = 3 // reads hostConfig, then stopCommand; its end is the parent's end
	statusFD  = 4 // writes one hostStatus
	lockFD    = 5 // keeps the lock of the data directory
)

// stopCommand asks a child to finish what runs and end.
const stopCommand = "stop"

// hostConfig is what a parent tells its child.
type hostConfig struct {
	Library        string
	DataDir        string
	MaxMemory      int64
	MaxConcurrent  int
	MaxQueryBytes  int64
	MaxInsertBytes int64
	Network        string // unix or tcp
	Socket         string
	Secret         string
	Temporary      bool
}

// hostStatus is what a child answers once it serves, or has failed to.
type hostStatus struct {
	Address string
	Version string // of the engine
	Error   string
}

// directories are the folders in a data directory.
type directories struct{ root, data, run, files, tmp string }

func directoriesOf(root string) directories {
	run := filepath.Join(root, "run")
	return directories{
		root: root, run: run,
		data:  filepath.Join(root, "data"), // of the library
		files: filepath.Join(run, "files"), // empty: what file() may see
		tmp:   filepath.Join(root, "tmp"),
	}
}

// ChildMain runs the engine where this process was started to host it, and
// returns its exit code. Each program that calls Start without naming another
// Executable must call it before anything else:
//
//	if code, child := engine.ChildMain(); child {
//		os.Exit(code)
//	}
func ChildMain() (code int, child bool) {
	if len(os.Args) < 2 || os.Args[1] != childArg || os.Getenv(childEnv) == "" {
		return 0, false
	}
	if err := host(); err != nil {
		log.Print(err) //nolint:forbidigo // the child has no logger: its parent logs what it writes here
		return 1, true
	}
	return 0, true
}

// host is the life of a child.
func host() error {
	// Only the parent ends a child, after it has drained: a signal to the whole
	// group (Ctrl-C, systemd) must not take the engine away under it.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	syscall.Umask(0o077)
	log.SetFlags(0)

	control := bufio.NewScanner(os.NewFile(controlFD, "control"))
	control.Buffer(nil, 1<<20)
	status := os.NewFile(statusFD, "status")
	var cfg hostConfig
	if !control.Scan() {
		return errors.New("the parent sent no configuration")
	}
	if err := json.Unmarshal(control.Bytes(), &cfg); err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	stop := make(chan struct{})
	go watchParent(control, cfg, stop) // ends with the process

	server, listener, err := open(cfg)
	answer := hostStatus{}
	if err != nil {
		answer.Error = err.Error()
	} else {
		answer.Address, answer.Version = listener.Addr().String(), server.Version()
	}
	if err := json.NewEncoder(status).Encode(answer); err != nil {
		return fmt.Errorf("report to the parent: %w", err)
	}
	_ = status.Close()
	if err != nil {
		return nil // the parent knows
	}
	return serve(server, listener, stop)
}

// watchParent ends the process with its parent, at once: that is as safe as
// kill -9, which the engine survives. It closes stop when the parent asks.
func watchParent(control *bufio.Scanner, cfg hostConfig, stop chan<- struct{}) {
	for control.Scan() {
		if control.Text() == stopCommand {
			close(stop)
			break
		}
	}
	for control.Scan() {
	}
	if cfg.Temporary {
		_ = os.RemoveAll(cfg.DataDir)
	}
	os.Exit(0) //nolint:forbidigo // the parent is gone, and the library does not give up its threads
}

// open loads the library, opens the data and listens.
func open(cfg hostConfig) (*chhttp.Server, net.Listener, error) {
	dirs := directoriesOf(cfg.DataDir)
	configFile, err := layOut(dirs, cfg.MaxMemory)
	if err != nil {
		return nil, nil, err
	}
	library, err := chdb.Load(cfg.Library)
	if err != nil {
		return nil, nil, err
	}
	server, err := chhttp.New(chhttp.Config{
		Library: library,
		Connect: func() (*chdb.Conn, error) {
			return library.Connect("--path="+dirs.data, "--config-file="+configFile)
		},
		Secret:         cfg.Secret,
		MaxConcurrent:  cfg.MaxConcurrent,
		MaxQueryBytes:  cfg.MaxQueryBytes,
		MaxInsertBytes: cfg.MaxInsertBytes,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w%s", dirs.data, err, otherOwner(dirs.data))
	}
	listener, err := listen(cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	return server, listener, nil
}

// layOut makes the folders and the configuration file, and leaves the process
// in an empty folder: the library reads files relative to where it runs.
func layOut(dirs directories, maxMemory int64) (configFile string, err error) {
	if err := os.RemoveAll(dirs.tmp); err != nil {
		return "", fmt.Errorf("clear temporary files: %w", err)
	}
	// Without data/metadata a DROP … SYNC in a fresh folder never returns (26.5).
	for _, dir := range []string{dirs.files, dirs.tmp, filepath.Join(dirs.data, "metadata")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("make the data directory: %w", err)
		}
	}
	configFile = filepath.Join(dirs.run, "config.xml")
	if err := os.WriteFile(configFile, []byte(serverConfig(dirs, maxMemory)), 0o600); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	return configFile, os.Chdir(dirs.files)
}

func listen(cfg hostConfig) (net.Listener, error) {
	if cfg.Network == "tcp" {
		return net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a number needs no look-up
	}
	// A killed child leaves its socket; the lock says that nobody listens.
	if err := os.Remove(cfg.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", cfg.Socket) //nolint:noctx // does not wait; mode 0700, by the umask
	if err != nil {
		return nil, err
	}
	return listener, os.Chmod(cfg.Socket, 0o600)
}

// otherOwner names the process that the library's own lock file belongs to.
func otherOwner(data string) string {
	b, err := os.ReadFile(filepath.Join(data, "status"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if pid, ok := strings.CutPrefix(strings.TrimSpace(line), "PID: "); ok {
			return " (its last owner was process " + pid + ")"
		}
	}
	return ""
}

// drainTime is how long running statements have to end after a stop; they are
// killed then. exitTime is how long that may take before the process ends
// anyway.
const (
	drainTime = 5 * time.Second
	exitTime  = 5 * time.Second
)

// serve answers requests until stop is closed.
func serve(handler *chhttp.Server, listener net.Listener, stop <-chan struct{}) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    2 << 20, // statement parameters travel in the URL
		ErrorLog:          log.Default(),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }() // ends with Shutdown below
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-stop:
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close() // ends the contexts of requests, which kills statements
	}
	closed := make(chan struct{})
	go func() { // ends, or the process does
		handler.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(exitTime):
		log.Print("a statement did not end in time: leaving it") //nolint:forbidigo // the child has no logger: its parent logs what it writes here
	}
	return nil
}
