// Command steptrail is the composition root: the only place that knows the concrete types of both sides. Everything
// that runs for long is a collector component; this command finds the config and hands over to otelcol.
//
//	steptrail serve       → collector.Settings → otelcol (receivers → agentstep → agentstore, extensions)
//	steptrail engine-host → internal/engine (hidden: serve's child process, which holds the embedded ClickHouse)
//
// One file per subcommand. The exit status is 0 on success and after a clean shutdown, 1 on failure, 2 on wrong usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/steptrail/steptrail/internal/engine"
)

// version is set by the linker: -X main.version=v1.2.3.
var version = "dev"

// The exit statuses of every subcommand.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	// The embedded engine runs in a child process of this binary; its library must not meet what follows.
	if code, child := engine.ChildMain(); child {
		os.Exit(code)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the command line and returns the exit status. An error is written to stderr once, after the program's
// name.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand(version) //nolint:contextcheck // each command has its own, from ExecuteContext
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "steptrail: %v\n", err)
	if usage, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", usage.command)
		return exitUsage
	}
	return exitFailure
}

// usageError is a command line that does not make sense: an unknown command, flag or argument.
type usageError struct {
	command string // the command whose help tells more, "steptrail serve"
	err     error
}

func (e usageError) Error() string { return e.err.Error() }

func (e usageError) Unwrap() error { return e.err }
