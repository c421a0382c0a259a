package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"
)

// process is one child, from its start to its end.
type process struct {
	handle  *os.Process
	status  hostStatus
	control *os.File
	output  *outputLog
	exited  chan struct{} // closed at the end
	err     error         // why it ended, after exited; nil for exit code 0
}

// startProcess starts a child and waits until it serves, or stop is closed. On
// an error nothing is left running.
func startProcess(cfg Config, host hostConfig, lock *os.File, stop <-chan struct{}) (*process, error) {
	message, err := json.Marshal(host)
	if err != nil {
		return nil, err
	}
	controlRead, controlWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	statusRead, statusWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a pipe: %w", err), controlRead.Close(), controlWrite.Close())
	}
	defer func() { _ = statusRead.Close() }()

	p := &process{control: controlWrite, output: newOutputLog(cfg.Logger), exited: make(chan struct{})}
	cmd := exec.Command(cfg.Executable, childArg, cfg.DataDir) //nolint:noctx // it outlives the start; Shutdown ends it
	cmd.Args[0] = os.Args[0]
	cmd.Dir = cfg.DataDir
	cmd.Env = childEnvironment(os.Environ())
	cmd.ExtraFiles = []*os.File{controlRead, statusWrite, lock} // controlFD, statusFD, lockFD
	cmd.Stdout, cmd.Stderr = p.output, p.output
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = childAttributes(cfg.Temporary)

	started := make(chan error)
	go p.run(cmd, started) // ends with the child
	err = <-started
	_, _ = controlRead.Close(), statusWrite.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the engine's process: %w", err), controlWrite.Close())
	}
	shaken := make(chan struct{})
	defer close(shaken)
	go func() { // ends with the handshake
		select {
		case <-stop:
			_ = p.handle.Kill()
		case <-shaken:
		}
	}()
	if err := p.handshake(message, statusRead, cfg.StartTimeout); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// allocatorEnv configures the library's jemalloc.
const allocatorEnv = "JE_MALLOC_CONF"

// childEnvironment is that of this process, in UTC. Freed memory goes back to
// the system after a second, where the library keeps it for five: heavy
// statements in a row then take a third less, for about 5 % of CPU time.
func childEnvironment(own []string) []string {
	environment := append(slices.Clip(own), childEnv+"=1", "TZ=UTC")
	if os.Getenv(allocatorEnv) == "" {
		environment = append(environment, allocatorEnv+"=dirty_decay_ms:1000")
	}
	return environment
}

// run starts the child and waits for its end on one thread, which it keeps: the
// child is killed when the thread ends that started it.
func (p *process) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.handle = cmd.Process
	started <- nil
	p.err = cmd.Wait()
	p.output.flush()
	_ = p.control.Close()
	close(p.exited)
}

// handshake tells the child what to do and waits for its answer.
func (p *process) handshake(message []byte, status *os.File, timeout time.Duration) error {
	_ = status.SetReadDeadline(time.Now().Add(timeout))
	_, _ = p.control.Write(append(message, '\n')) // it fails where the child has ended, which shows below
	answer, err := io.ReadAll(io.LimitReader(status, 1<<20))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return p.startError(fmt.Errorf("the engine did not start within %s", timeout))
	case err != nil:
		return p.startError(err)
	case len(answer) == 0:
		p.kill()
		return p.startError(fmt.Errorf("the engine ended at its start (%w)", errorOr(p.err, errors.New("exit code 0"))))
	}
	if err := json.Unmarshal(answer, &p.status); err != nil {
		return p.startError(fmt.Errorf("read the engine's answer: %w", err))
	}
	if p.status.Error != "" {
		return p.startError(errors.New(p.status.Error))
	}
	return nil
}

// startError adds what the child wrote last.
func (p *process) startError(err error) error {
	if tail := p.output.tail(); tail != "" {
		return fmt.Errorf("%w; its output: %s", err, tail)
	}
	return err
}

// stop asks the child to end. An error means that it has ended already.
func (p *process) stop() { _, _ = p.control.WriteString(stopCommand + "\n") }

// kill ends the child and waits for it.
func (p *process) kill() {
	_ = p.handle.Kill() // it may have ended already
	<-p.exited
}

func errorOr(err, fallback error) error {
	if err != nil {
		return err
	}
	return fallback
}
