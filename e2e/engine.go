package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// engineCommand is the hidden subcommand of the child process that holds the embedded engine.
const engineCommand = "engine-host"

// EnginePID returns the process id of the embedded engine: the child of this instance that runs engine-host. It fails
// while there is none, as between a crash and the restart.
func (in *Instance) EnginePID() (int, error) {
	children, err := childrenOf(in.PID())
	if err != nil {
		return 0, err
	}
	for _, pid := range children {
		arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(arguments), engineCommand) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("process %d has no child that runs %s", in.PID(), engineCommand)
}

// KillEngine sends SIGKILL to the embedded engine and returns its process id.
func (in *Instance) KillEngine() int {
	in.t.Helper()
	pid, err := in.EnginePID()
	if err != nil {
		in.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		in.t.Fatalf("kill the engine (pid %d): %v", pid, err)
	}
	return pid
}

// Alive tells whether a process runs (a zombie does not).
func Alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state stands after the command name, which is in parentheses and may hold anything.
	_, after, ok := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')'):]), " ")
	return ok && !strings.HasPrefix(after, "Z")
}

// childrenOf returns the process ids of the children that any thread of a process has started.
func childrenOf(pid int) ([]int, error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil, err
	}
	if len(lists) == 0 {
		return nil, fmt.Errorf("process %d has ended, or the kernel does not list children", pid)
	}
	var children []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			return nil, err
		}
		for field := range strings.FieldsSeq(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				return nil, err
			}
			children = append(children, child)
		}
	}
	return children, nil
}
