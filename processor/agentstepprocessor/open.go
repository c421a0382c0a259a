package agentstepprocessor

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// openRuns are the runs that are still being told, shared by all requests.
type openRuns struct{}

// judged is what became of a run that a request touched.
type judged struct{ Fresh []agent.Finding }

func newOpenRuns(*Config, *policy.Policy) *openRuns { return &openRuns{} }

func (o *openRuns) add(*batch, int64) []judged { return nil }

func (o *openRuns) due(int64) []judged { return nil }

func (o *openRuns) stats() openStats { return openStats{} }

func (o *openRuns) kinds() []string { return nil }

// mark writes findings onto the spans of the request that they rest on.
func (w *worker) mark(ptrace.Traces, []judged) {}
