package query

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/internal/agent"
)

const (
	// maxAccesses is how many lines of the access log may wait to be written.
	maxAccesses = 10_000
	// accessBatch is how many are written at once.
	accessBatch = 1000
	// accessTimeout bounds one try to write lines, accessRetry is the time to the
	// next.
	accessTimeout = 10 * time.Second
	accessRetry   = time.Second
)

// caller is who asks, as far as the request tells.
type caller struct{ stated, address string }

type callerKey struct{}

// callerOf reads it off a request. Who asks is what the From header says
// (RFC 9110), until there are tokens.
func callerOf(c *gin.Context) caller {
	out := caller{stated: c.GetHeader("From"), address: c.Request.RemoteAddr}
	if host, _, err := net.SplitHostPort(out.address); err == nil {
		out.address = host
	}
	if !utf8.ValidString(out.stated) || checkText("From", out.stated, maxActor, false) != nil {
		out.stated = ""
	}
	return out
}

// logRead notes that the caller gets the content of a run. It does not wait until
// that is written down.
func (s *Server) logRead(ctx context.Context, run string) {
	from, _ := ctx.Value(callerKey{}).(caller)
	actor := from.stated
	if actor == "" {
		actor = from.address
	}
	a := s.access(ctx, "run.read", actor)
	a.Run, a.Detail = run, "content=full from "+from.address
	s.accesses.add(identityOf(ctx).Tenant, a)
}

// access begins a line of the access log.
func (s *Server) access(ctx context.Context, action, actor string) agent.Access {
	who := identityOf(ctx)
	now, term := s.opts.Now(), accessTerm
	if s.opts.Policy != nil {
		term = s.opts.Policy.Retention(who.Tenant).AccessLog
	}
	return agent.Access{At: now.UnixNano(), Actor: actor, Role: string(who.Role), Action: action, Expires: now.Add(term).Unix()}
}

// accessLine is a line of a tenant's access log.
type accessLine struct {
	tenant string
	agent.Access
}

// accessLog writes lines of who read what, in the background: a read does not
// wait for them. What cannot be written is tried again; what is lost, because
// too many wait or the process ends, is counted and logged.
type accessLog struct {
	write func(ctx context.Context, tenant string, lines []agent.Access) error
	lost  func(lines int)
	tried func(lines int, err error)

	mu      sync.Mutex
	waiting []accessLine
	excess  int  // lines that were lost and not told of yet
	writing bool // drain runs
	closed  bool
	ending  chan struct{} // closed by close
	done    sync.WaitGroup
}

// add gives a line to be written.
func (l *accessLog) add(tenant string, a agent.Access) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed: // a request that did not end with the server
		l.lost(1)
		return
	case len(l.waiting) >= maxAccesses:
		l.excess++ // drain runs, and tells of it: not once for each line
		return
	}
	l.waiting = append(l.waiting, accessLine{tenant, a})
	if !l.writing {
		l.writing = true
		l.done.Go(l.drain) // ends when nothing waits, or with close
	}
}

// drain writes until nothing waits.
func (l *accessLog) drain() {
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.writing = false
			l.mu.Unlock()
			return
		}
		tenant := l.waiting[0].tenant
		var lines []agent.Access // of one tenant, whoever else's are between them
		for i := 0; i < len(l.waiting) && len(lines) < accessBatch; i++ {
			if l.waiting[i].tenant == tenant {
				lines = append(lines, l.waiting[i].Access)
			}
		}
		l.mu.Unlock()

		ctx, cancel := context.WithTimeout(context.Background(), accessTimeout)
		err := l.write(ctx, tenant, lines)
		cancel()
		l.tried(len(lines), err)
		l.mu.Lock()
		if err == nil {
			l.written(tenant, len(lines))
		}
		l.tell()
		l.mu.Unlock()
		if err == nil {
			continue
		}
		select {
		case <-time.After(accessRetry):
		case <-l.ending:
			l.mu.Lock()
			l.writing = false
			l.mu.Unlock()
			return
		}
	}
}

// written takes the first lines of a tenant out. The caller holds mu.
func (l *accessLog) written(tenant string, lines int) {
	l.waiting = slices.DeleteFunc(l.waiting, func(x accessLine) bool {
		is := lines > 0 && x.tenant == tenant
		if is {
			lines--
		}
		return is
	})
	if len(l.waiting) == 0 {
		l.waiting = nil
	}
}

// tell says how many lines were lost since it last did. The caller holds mu.
func (l *accessLog) tell() {
	if l.excess > 0 {
		l.lost(l.excess)
		l.excess = 0
	}
}

// close waits until what waits is written, or could not be; that is lost, and so
// is what is added afterwards. It is called once.
func (l *accessLog) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	close(l.ending)
	l.done.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.excess += len(l.waiting)
	l.waiting = nil
	l.tell()
}

// newAccessLog makes the server's access log of reads.
func (s *Server) newAccessLog() *accessLog {
	return &accessLog{
		write: func(ctx context.Context, tenant string, lines []agent.Access) error {
			return s.guard(func() error {
				r, err := s.opts.Reader(tenant)
				if err != nil {
					return err
				}
				return r.LogAccess(ctx, lines)
			})()
		},
		tried: func(lines int, err error) {
			if err == nil {
				s.metrics.accesses.WithLabelValues("written").Add(float64(lines))
				return
			}
			s.metrics.accesses.WithLabelValues("failed").Add(float64(lines))
			s.log.Warn("the access log could not be written; it is tried again", zap.Int("lines", lines), zap.Error(err))
		},
		lost: func(lines int) {
			s.metrics.accesses.WithLabelValues("lost").Add(float64(lines))
			s.log.Error("lines of the access log are lost", zap.Int("lines", lines))
		},
		ending: make(chan struct{}),
	}
}

// Close writes down what was read and is not in the access log yet. It is called
// once, when no request is taken any more; what one that has not ended reads from
// then on is counted as lost.
func (s *Server) Close() { s.accesses.close() }
