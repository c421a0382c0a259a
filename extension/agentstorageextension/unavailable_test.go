package agentstorageextension

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine"
)

func TestADatabaseThatIsAwayIsToldFromOtherErrors(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                        {nil, false},
		"the tables are not there yet":    {ErrNotReady, true},
		"the engine is between two lives": {engine.ErrUnavailable, true},
		"the connection ended":            {io.EOF, true},
		"an answer was cut":               {io.ErrUnexpectedEOF, true},
		"nobody listens":                  {&net.OpError{Op: "dial", Err: errors.New("refused")}, true},
		"the caller went away":            {context.Canceled, false},
		"the caller's time is over":       {context.DeadlineExceeded, false},
		"another error":                   {errors.New("other"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if test.err != nil {
				test.err = fmt.Errorf("read runs: %w", test.err)
			}
			require.Equal(t, test.want, Unavailable(test.err))
		})
	}
}
