package sweep

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
)

// Store is what the sweep needs of the store. Times are the store's arrival
// times.
type Store interface {
	// Changes lists the units that got rows with from <= inserted_at < to.
	Changes(ctx context.Context, from, to time.Time) ([]agent.Change, error)
	// Groups loads the units and all that may share a run with them. Every unit
	// asked for that still has rows stands in exactly one group.
	Groups(ctx context.Context, units []agent.UnitID) ([]agent.Group, error)
	// ActsUnderKeys, FindingsOf, LinksOf and ActsOf read what was written down.
	ActsUnderKeys(ctx context.Context, tenant string, keys []string) ([]agent.Act, error)
	FindingsOf(ctx context.Context, tenant string, runs []string) ([]agent.StoredFinding, error)
	LinksOf(ctx context.Context, tenant string, units []string) ([]agent.RunLink, error)
	ActsOf(ctx context.Context, tenant string, units []string) ([]agent.Act, error)
	// ResolutionsOf gives what people said of attempts of the units.
	ResolutionsOf(ctx context.Context, tenant string, units []string) ([]agent.Resolution, error)
	// WrittenOf gives what was written of the attempts of units and of runs. It is
	// asked only where somebody is told of news.
	WrittenOf(ctx context.Context, tenant string, units, runs []string) (agent.Written, error)
	// LastSweep is the newest version written, as a time; zero if none.
	LastSweep(ctx context.Context) (time.Time, error)
	// KeepContent writes bodies of spans of the tenant again, to expire later.
	KeepContent(ctx context.Context, tenant string, spans []agent.KeptContent) error
	// WriteDerived writes under a version; a higher version outranks a lower.
	WriteDerived(ctx context.Context, version uint64, d agent.Derived) error
}

// Config bounds the sweep. The zero value takes the defaults.
type Config struct {
	Overlap    time.Duration // how long an insert may take until it can be read; default 60s
	Lookback   time.Duration // how far back a first sweep reads; default 48h, as long as run_changes keeps
	GrowAfter  time.Duration // a unit that is never quiet is judged when it grew by a quarter, from this age on; default 3 times the policy's quiet, at least 10s
	Forced     time.Duration // and at the latest after this; default 10m
	GroupUnits int           // units loaded per query; default 1000
	GroupRows  int64         // and about so many spans; default 100000
	MaxPending int           // units waiting for quiet; beyond it the oldest are judged at once; default 200000

	// Tell is called with what a judgement wrote for the first time, once it is
	// written; nil: nobody is told.
	Tell func(News)
}

func (c Config) withDefaults(quiet time.Duration) Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&c.Overlap, time.Minute)
	def(&c.Lookback, 48*time.Hour)
	def(&c.GrowAfter, max(3*quiet, 10*time.Second))
	def(&c.Forced, 10*time.Minute)
	if c.GroupUnits <= 0 {
		c.GroupUnits = 1000
	}
	if c.GroupRows <= 0 {
		c.GroupRows = 100_000
	}
	if c.MaxPending <= 0 {
		c.MaxPending = 200_000
	}
	return c
}

// Stats says what one Tick did.
type Stats struct {
	Units     int // units judged
	Runs      int // runs judged
	Spans     int // distinct spans they were derived from
	Findings  int // findings written, withdrawn ones included
	Withdrawn int
	Truncated int // groups that the store's bound cut
	Pending   int // units that wait for quiet
	// Lag is how long the oldest waiting unit has waited beyond the quiet
	// period.
	Lag time.Duration
}

// Sweeper judges changed units. It is not safe for concurrent use; several
// Sweepers on one store are.
type Sweeper struct {
	store  Store
	policy *policy.Policy
	cfg    Config
	quiet  time.Duration
	watch  *watch
	timers timers
}

// New makes a sweeper that judges by the policy.
func New(store Store, p *policy.Policy, cfg Config) *Sweeper {
	quiet := p.Detection.Quiet
	cfg = cfg.withDefaults(quiet)
	return &Sweeper{store: store, policy: p, cfg: cfg, quiet: quiet, watch: newWatch(cfg, quiet)}
}

// Tick looks for changes and judges what is due at now. After an error nothing
// is lost: the units that were due stay due.
func (s *Sweeper) Tick(ctx context.Context, now time.Time) (Stats, error) {
	if err := s.watch.look(ctx, s.store, now); err != nil {
		return Stats{}, err
	}
	for _, id := range s.timers.popDue(now) {
		s.watch.again(id, now)
	}
	due := s.watch.due(now)
	stats, err := s.judgeAll(ctx, due, now, false)
	stats.Pending, stats.Lag = s.watch.backlog(now)
	return stats, err
}

// Range judges every unit that changed between two times, quiet or not: for
// runs by hand after a change of policy or a repair.
func (s *Sweeper) Range(ctx context.Context, from, to, now time.Time) (Stats, error) {
	changes, err := s.store.Changes(ctx, from, to)
	if err != nil {
		return Stats{}, fmt.Errorf("read run_changes: %w", err)
	}
	units := make([]agent.UnitID, 0, len(changes))
	for _, c := range changes {
		units = append(units, c.UnitID)
	}
	return s.judgeAll(ctx, units, now, true)
}

// Units judges the units whatever their age, as after their rows were changed.
func (s *Sweeper) Units(ctx context.Context, units []agent.UnitID, now time.Time) (Stats, error) {
	return s.judgeAll(ctx, slices.Clone(units), now, true)
}

func (s *Sweeper) judgeAll(ctx context.Context, due []agent.UnitID, now time.Time, forced bool) (Stats, error) {
	var stats Stats
	for len(due) > 0 {
		n := s.chunk(due)
		if err := s.judge(ctx, due[:n], now, forced, &stats); err != nil {
			return stats, err
		}
		due = due[n:]
	}
	return stats, nil
}

// chunk says how many of the units are loaded with one query.
func (s *Sweeper) chunk(due []agent.UnitID) int {
	var rows int64
	for i, id := range due {
		rows += s.watch.rows(id)
		if i > 0 && rows > s.cfg.GroupRows || i == s.cfg.GroupUnits {
			return i
		}
	}
	return len(due)
}
