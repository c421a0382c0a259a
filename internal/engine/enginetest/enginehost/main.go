// Command enginehost hosts the engine for tests: a test binary cannot always do
// so itself, since one built with -race needs cgo.
package main

import (
	"fmt"
	"os"

	"github.com/steptrail/steptrail/internal/engine"
)

func main() {
	if code, child := engine.ChildMain(); child {
		os.Exit(code)
	}
	fmt.Fprintln(os.Stderr, "enginehost is started by tests only")
	os.Exit(2)
}
