package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// readyLimit is how long a start may take: the engine's library out of a cold page cache, migrations, pipelines.
	readyLimit = 5 * time.Minute
	// limit is how long a test waits for what comes in seconds on a machine that has time for it.
	limit = 5 * time.Minute
	// stopLimit is what the program promises between SIGTERM and its end.
	stopLimit = 30 * time.Second
)

// Options change how an Instance is started. The zero value is an empty data folder and the built-in config.
type Options struct {
	DataDir string   // kept when set; else a folder of the test
	Env     []string // more variables, NAME=value; they win over those that Start sets
	Args    []string // more arguments after "serve"
}

// Instance is one running program. Its methods may be called from several goroutines, but for Stop, Kill and Restart,
// which end the process, and which only one goroutine may call at a time.
type Instance struct {
	GRPC      string // host:port of OTLP/gRPC
	HTTP      string // host:port of OTLP/HTTP
	Query     string // host:port of the API
	Telemetry string // host:port of the collector's own metrics
	DataDir   string

	t      testing.TB
	opts   Options
	health string
	client *http.Client
	log    *logBuffer
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process has ended
}

// Start runs the program and waits until /readyz says 200. When the test ends, the program is stopped by SIGTERM, which
// must end it with status 0 in time; its log is printed if the test failed.
func Start(t testing.TB, opts Options) *Instance {
	t.Helper()
	if opts.DataDir == "" {
		opts.DataDir = t.TempDir()
	}
	in := &Instance{
		t: t, opts: opts, DataDir: opts.DataDir,
		client: &http.Client{Timeout: limit},
		log:    &logBuffer{},
	}
	ports := freeAddresses(t, 5)
	in.GRPC, in.HTTP, in.Query, in.Telemetry, in.health = ports[0], ports[1], ports[2], ports[3], ports[4]
	t.Cleanup(func() {
		if in.Running() {
			in.Stop()
		}
		in.client.CloseIdleConnections()
		if t.Failed() {
			t.Logf("log of steptrail:\n%s", in.Log())
		}
	})
	in.start()
	return in
}

// start runs the process and waits until it is ready.
func (in *Instance) start() {
	in.t.Helper()
	_, telemetryPort, _ := strings.Cut(in.Telemetry, ":")
	cmd := exec.Command(Binary(in.t), append([]string{"serve"}, in.opts.Args...)...)
	cmd.Dir = in.t.TempDir() // nothing may depend on the working directory
	cmd.Env = append(cleanEnvironment(),
		"STEPTRAIL_OTLP_GRPC_ENDPOINT="+in.GRPC,
		"STEPTRAIL_OTLP_HTTP_ENDPOINT="+in.HTTP,
		"STEPTRAIL_QUERY_ENDPOINT="+in.Query,
		"STEPTRAIL_HEALTH_ENDPOINT="+in.health,
		"STEPTRAIL_TELEMETRY_PORT="+telemetryPort,
		"STEPTRAIL_DATA_DIR="+in.DataDir,
	)
	cmd.Env = append(cmd.Env, in.opts.Env...)
	cmd.Stdout, cmd.Stderr = in.log, in.log
	cmd.WaitDelay = 5 * time.Second // a child that outlives the program must not hold its log open
	if err := cmd.Start(); err != nil {
		in.t.Fatalf("start steptrail: %v", err)
	}
	exited := make(chan struct{})
	go func() { // ends with the process, which the test's cleanup stops
		_ = cmd.Wait()
		close(exited)
	}()
	in.cmd, in.exited = cmd, exited
	in.WaitReady(readyLimit)
}

// WaitReady waits until /readyz says 200, and fails the test at once if the process ends before.
func (in *Instance) WaitReady(limit time.Duration) {
	in.t.Helper()
	Eventually(in.t, limit, func() error {
		if !in.Running() {
			in.t.Fatalf("steptrail ended with status %d before it was ready:\n%s", in.cmd.ProcessState.ExitCode(), in.Log())
		}
		status, body, err := in.get(context.Background(), "/readyz", "")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("/readyz says %d: %s", status, body)
		}
		return err
	})
}

// Running tells whether the process has not ended.
func (in *Instance) Running() bool {
	if in.cmd == nil {
		return false
	}
	select {
	case <-in.exited:
		return false
	default:
		return true
	}
}

// PID returns the id of the process.
func (in *Instance) PID() int { return in.cmd.Process.Pid }

// Stop sends SIGTERM and fails the test unless the process ends with status 0 within 30 seconds. It returns how long
// that took.
func (in *Instance) Stop() time.Duration {
	in.t.Helper()
	begin := time.Now()
	in.signal(syscall.SIGTERM)
	if !in.wait(stopLimit) {
		in.signal(syscall.SIGQUIT) // the goroutines go to the log
		in.wait(5 * time.Second)
		in.t.Errorf("steptrail still ran %s after SIGTERM", stopLimit)
		return time.Since(begin)
	}
	if code := in.cmd.ProcessState.ExitCode(); code != 0 {
		in.t.Errorf("steptrail ended with status %d after SIGTERM (%v)", code, in.cmd.ProcessState)
	}
	return time.Since(begin)
}

// Kill sends SIGKILL and waits for the end of the process.
func (in *Instance) Kill() {
	in.t.Helper()
	in.signal(syscall.SIGKILL)
	if !in.wait(stopLimit) {
		in.t.Fatalf("steptrail (pid %d) outlived SIGKILL", in.PID())
	}
}

// Restart starts the program again, on the same ports and data folder, after Stop or Kill.
func (in *Instance) Restart() {
	in.t.Helper()
	if in.Running() {
		in.t.Fatal("Restart of a running instance")
	}
	in.start()
}

// Log returns what the process, and those before it, have written so far.
func (in *Instance) Log() string { return in.log.String() }

func (in *Instance) signal(sig syscall.Signal) {
	in.t.Helper()
	if err := in.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		in.t.Fatalf("send %s: %v", sig, err)
	}
}

// wait waits for the end of the process and tells whether it came in time.
func (in *Instance) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-in.exited:
		return true
	case <-timer.C:
		return false
	}
}

// cleanEnvironment is this process's environment without the program's own variables, so that those of the person who
// runs the tests change nothing.
func cleanEnvironment() []string {
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "STEPTRAIL_") {
			env = append(env, variable)
		}
	}
	return env
}

// freeAddresses returns n different loopback addresses with ports on which nobody listens.
func freeAddresses(t testing.TB, n int) []string {
	t.Helper()
	addresses := make([]string, n)
	var listeners []io.Closer
	for i := range addresses {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, listener) // open until n are found, so that none comes twice
		addresses[i] = listener.Addr().String()
	}
	for _, listener := range listeners {
		_ = listener.Close()
	}
	return addresses
}
