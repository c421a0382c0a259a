package agentstepprocessor

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/canon"
)

// lateFindings sends on, through the pipeline of logs, what was found when no
// span was at hand to carry it. It is safe for concurrent use.
type lateFindings struct{ next atomic.Pointer[consumer.Logs] }

// set names the pipeline. Without one nothing is sent.
func (l *lateFindings) set(next consumer.Logs) { l.next.Store(&next) }

// send passes findings on, a log record each. It reports whether they were taken.
func (l *lateFindings) send(ctx context.Context, findings []agent.Finding) bool {
	next := l.next.Load()
	if next == nil || len(findings) == 0 {
		return len(findings) == 0
	}
	ld := plog.NewLogs()
	ld.ResourceLogs().EnsureCapacity(1)
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr(canon.Tenant, findings[0].Tenant) // one run's, so one tenant's
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	records.EnsureCapacity(len(findings))
	for i := range findings {
		canon.WriteFindingLog(records.AppendEmpty(), &findings[i])
	}
	return (*next).ConsumeLogs(ctx, ld) == nil
}
