package chdb

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// handledSignals are those whose handlers the library replaces: SIGILL,
// SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGTSTP and SIGSYS.
var handledSignals = [...]int32{4, 5, 6, 7, 8, 11, 20, 31}

// signalKeeper restores the process's signal handlers after calls into the
// library. Up to 26.5 both chdb_set_signal_handlers_enabled and every
// chdb_connect remove Go's own, after which a nil dereference ends the process
// without a trace; with the library's handlers left in place it hangs instead.
type signalKeeper struct {
	sigaction func(signal int32, act, old unsafe.Pointer) int32
}

// actionSize is more than glibc's struct sigaction takes (152 bytes on amd64).
const actionSize = 256

func newSignalKeeper() (*signalKeeper, error) {
	libc, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		return nil, fmt.Errorf("load glibc: %w", err)
	}
	k := &signalKeeper{}
	purego.RegisterLibFunc(&k.sigaction, libc, "sigaction")
	return k, nil
}

// keep runs call and puts back the handlers that were set before it.
func (k *signalKeeper) keep(call func()) {
	var actions [len(handledSignals)][actionSize]byte
	var saved [len(handledSignals)]bool
	for i, signal := range handledSignals {
		saved[i] = k.sigaction(signal, nil, unsafe.Pointer(&actions[i])) == 0
	}
	call()
	for i, signal := range handledSignals {
		if saved[i] {
			k.sigaction(signal, unsafe.Pointer(&actions[i]), nil)
		}
	}
}
