package engine

import "syscall"

// ownExecutable is the running program, also after its file was replaced.
const ownExecutable = "/proc/self/exe"

// childAttributes put the child in a process group of its own, so that Ctrl-C
// in a terminal reaches the parent only, and let it die with its parent. That
// signal is sent when the *thread* ends that started the child, so the thread
// is kept (see process.run). A temporary engine ends by the closed control
// pipe alone: it has to remove its folder.
func childAttributes(temporary bool) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if !temporary {
		attributes.Pdeathsig = syscall.SIGKILL
	}
	return attributes
}
