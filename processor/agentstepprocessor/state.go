package agentstepprocessor

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/detect"
	"github.com/steptrail/steptrail/internal/dialect"
	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/protect"
	"github.com/steptrail/steptrail/internal/redact"
)

// defaultTenant is whose spans they are where nobody is asked who they are.
const defaultTenant = "default"

// sharedStates holds the states of the components of one factory. A component
// for traces and one for logs that have one config have one state.
type sharedStates struct {
	mu     sync.Mutex
	states map[*Config]*state
}

func newSharedStates() *sharedStates { return &sharedStates{states: make(map[*Config]*state)} }

// get gives the state of a config, and makes it the first time. Each get is
// followed by one shutdown.
func (s *sharedStates) get(cfg *Config, set processor.Settings) (*state, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.states[cfg]
	if st == nil {
		var err error
		if st, err = newState(cfg, set); err != nil {
			return nil, err
		}
		st.shared = s
		s.states[cfg] = st
	}
	st.users++
	return st, nil
}

// state is what the processors of one config share: policy, redaction, workers
// and open runs.
type state struct {
	cfg      *Config
	shared   *sharedStates
	users    int // under shared.mu
	started  bool
	log      *zap.Logger
	now      func() time.Time
	policy   *policy.Policy
	conds    *conditions
	needsKey bool // the redaction key is made at the start
	rules    []rule
	tried    func(span ptrace.Span, rec *canon.Record, met bool, err error) // of each rule; nil: nobody asks
	redactor *redact.Redactor
	tally    *redactTally
	metrics  *metrics
	workers  chan *worker
	open     *openRuns
	late     lateFindings

	tenants sync.Map // of *tenantProtector, by tenant
	badSpan sync.Once
	expired sync.Once

	stop chan struct{}
	done sync.WaitGroup
}

func newState(cfg *Config, set processor.Settings) (*state, error) {
	conds, err := newConditions(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	p, needsKey, err := policyfile.Check(cfg.PolicyFile, cfg.DataDir, policy.WithConditionCheck(conds.check))
	if err != nil {
		return nil, err
	}
	s, err := newStateWith(cfg, set, p, conds)
	if err != nil {
		return nil, err
	}
	s.conds, s.needsKey = conds, needsKey
	return s, nil
}

// makeKey makes the redaction key of the demo policy and redacts with it. It is
// called before the first request: a collector that is only validated makes none.
func (s *state) makeKey() error {
	p, err := policyfile.Load(s.cfg.PolicyFile, s.cfg.DataDir, policy.WithConditionCheck(s.conds.check))
	if err != nil {
		return err
	}
	redactor, err := protect.New(p)
	if err != nil {
		return err
	}
	s.redactor, s.needsKey = redactor, false
	return nil
}

// newStateWith makes the state for a policy that is read.
func newStateWith(cfg *Config, set processor.Settings, p *policy.Policy, conds *conditions) (*state, error) {
	s := &state{cfg: cfg, log: set.Logger, now: time.Now, policy: p, stop: make(chan struct{})}
	var err error
	if s.rules, err = conds.compile(p.Rules); err != nil {
		return nil, err
	}
	if s.redactor, err = protect.New(p); err != nil {
		return nil, err
	}
	s.open, s.tally = newOpenRuns(cfg, p), newRedactTally(p)
	if s.metrics, err = newMetrics(set.TelemetrySettings, s.open.stats, s.tally, detect.KindsUnder(p)); err != nil {
		return nil, err
	}
	s.workers = make(chan *worker, max(runtime.GOMAXPROCS(0), 1))
	for range cap(s.workers) {
		s.workers <- s.newWorker()
	}
	return s, nil
}

func (s *state) newWorker() *worker {
	w := &worker{
		s:        s,
		dialects: dialect.Normalizer{RunIDKeys: s.policy.RunIDKeys},
		guard:    guard{maxValue: s.cfg.MaxAttributeBytes, maxCount: s.cfg.MaxAttributes},
		analyzer: canon.NewAnalyzer(s.cfg.MaxBodyBytes, s.cfg.MessageCacheBytes),
		decider:  decider{policy: s.policy},
	}
	w.analyzer.Classify = w.decider.classify
	return w
}

// protector gives the redaction of a tenant.
func (s *state) protector(tenant string) protector {
	if p, ok := s.tenants.Load(tenant); ok {
		return p.(*tenantProtector)
	}
	p, _ := s.tenants.LoadOrStore(tenant, &tenantProtector{redactor: s.redactor, tenant: s.redactor.ForTenant(tenant), tally: s.tally})
	return p.(*tenantProtector)
}

func (s *state) options() []processorhelper.Option {
	return []processorhelper.Option{
		processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}),
		processorhelper.WithStart(s.start),
		processorhelper.WithShutdown(s.shutdown),
	}
}

// dueEvery is how often judgements that were put off, and quiet runs, are looked
// at.
const dueEvery = 100 * time.Millisecond

func (s *state) start(context.Context, component.Host) error {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	if s.started {
		return nil
	}
	if s.needsKey {
		if err := s.makeKey(); err != nil {
			return err
		}
	}
	s.started = true
	s.done.Add(1)
	go s.tick() //nolint:contextcheck // shutdown of the last user stops it and waits
	return nil
}

func (s *state) tick() {
	defer s.done.Done()
	t := time.NewTicker(dueEvery)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-t.C:
			s.due(s.now())
		}
	}
}

// due raises what was put off and what only time can raise. No span here carries
// its findings: they go on as log records, or wait for a span of their run.
func (s *state) due(now time.Time) {
	ctx := context.Background()
	for _, v := range s.open.due(now.UnixNano()) {
		s.countFindings(ctx, v.Fresh)
		if !s.late.send(ctx, v.Fresh) {
			s.open.owe(v.Fresh)
		}
	}
}

func (s *state) shutdown(context.Context) error {
	s.shared.mu.Lock()
	s.users--
	last := s.users == 0
	if last {
		delete(s.shared.states, s.cfg)
	}
	s.shared.mu.Unlock()
	if !last {
		return nil
	}
	close(s.stop)
	s.done.Wait()
	return errors.Join(s.metrics.shutdown())
}
