//go:build !linux

package engine

import "syscall"

// ownExecutable is looked up in PATH where /proc is missing; Start then needs
// Config.Executable. The library is only published for Linux.
const ownExecutable = "steptrail"

// childAttributes keep Ctrl-C in a terminal from the child. It ends with its
// parent by the closed control pipe.
func childAttributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
