package enginetest

import (
	"context"
	"fmt"
	"os"

	"go.uber.org/goleak"
)

// Main runs the tests of a package, shuts the shared engine down and fails the
// run where goroutines are left. It is all a TestMain has to do.
func Main(m goleak.TestingM, options ...goleak.Option) {
	goleak.VerifyTestMain(Wrap(m), options...)
}

// Wrap is m, followed by the end of the shared engine, for a TestMain that does
// more.
func Wrap(m goleak.TestingM) goleak.TestingM { return wrapped{m} }

type wrapped struct{ goleak.TestingM }

func (w wrapped) Run() int {
	code := w.TestingM.Run()
	if err := Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "shut the engine down:", err)
		return 1
	}
	return code
}

// Stop ends the shared engine, if one was started. Start begins another.
func Stop() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.engine == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	err := shared.engine.Shutdown(ctx)
	shared.engine = nil
	return err
}
