package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// Bounds of a closure. What lies beyond them is left out and the group says so.
const (
	maxDepth         = 8       // joins from a unit that was asked for
	maxGroupUnits    = 256     // units of a group beside those that were asked for
	maxClosureSteps  = 400_000 // spans of all groups together
	maxUnitsPerToken = 64      // a token of more units is no id of a run
	maxClosureLogs   = 100_000
)

// closure loads units and every unit that may share a run with them, and gives
// them as connected sets, each with all that its runs are derived from. Units
// without rows are left out. The order is that of the first unit asked for.
func (r *Reader) closure(ctx context.Context, units []string) ([]agent.Group, error) {
	c := &closure{reader: r, units: make(map[string]*unitRows)}
	frontier := dedup(units)
	for depth := 0; len(frontier) > 0; depth++ {
		if err := c.load(ctx, frontier); err != nil {
			return nil, err
		}
		if depth == maxDepth {
			c.cut(frontier)
			break
		}
		next, err := c.neighbours(ctx, frontier)
		if err != nil {
			return nil, fmt.Errorf("joined units: %w", err)
		}
		frontier = c.bounded(next)
	}
	groups := c.groups()
	return groups, c.loadLogs(ctx, groups)
}

// closure is the work of one call.
type closure struct {
	reader *Reader
	units  map[string]*unitRows
	order  []string // of c.units as they came
	steps  int
}

// unitRows is a unit as it was loaded. A unit that another one names may have
// no rows.
type unitRows struct {
	steps     []*agent.Step
	facts     []agent.MessageFacts
	arrived   int64
	parent    string // union-find over units
	joined    int    // of a set's root: units of the set that were not asked for
	truncated bool
}

// add takes a span. The copy of it that a hold keeps follows it: it expires as
// the span itself does, its bodies as the later of both.
func (u *unitRows) add(st *agent.Step) {
	if n := len(u.steps); n > 0 {
		if last := u.steps[n-1]; last.Span == st.Span && last.Trace == st.Trace {
			last.Expires, last.ContentExpires = min(last.Expires, st.Expires), max(last.ContentExpires, st.ContentExpires)
			return
		}
	}
	u.steps = append(u.steps, st)
}

func (c *closure) cut(units []string) {
	for _, u := range units {
		c.units[c.root(u)].truncated = true
	}
}

// bounded leaves out of the units to load next those of sets that have grown
// beyond the bound, and marks these sets as cut.
func (c *closure) bounded(next []string) []string {
	return slices.DeleteFunc(next, func(u string) bool {
		root := c.units[c.root(u)]
		if root.joined >= maxGroupUnits {
			root.truncated = true
			return true
		}
		root.joined++
		return false
	})
}

// root finds the representative of a unit's set.
func (c *closure) root(u string) string {
	for c.units[u].parent != u {
		c.units[u].parent = c.units[c.units[u].parent].parent
		u = c.units[u].parent
	}
	return u
}

func (c *closure) join(a, b string) {
	ra, rb := c.root(a), c.root(b)
	if ra == rb {
		return
	}
	if rb < ra {
		ra, rb = rb, ra
	}
	c.units[rb].parent = ra
	c.units[ra].joined += c.units[rb].joined
	c.units[ra].truncated = c.units[ra].truncated || c.units[rb].truncated
}

// load reads the spans and facts of units that are not loaded yet.
func (c *closure) load(ctx context.Context, units []string) error {
	for _, u := range units {
		if c.units[u] == nil {
			c.units[u] = &unitRows{parent: u}
			c.order = append(c.order, u)
		}
	}
	return chunks(units, func(part []string) error {
		if err := c.loadSteps(ctx, part); err != nil {
			return fmt.Errorf("steps: %w", err)
		}
		if err := c.loadFacts(ctx, part); err != nil {
			return fmt.Errorf("message facts: %w", err)
		}
		return nil
	})
}

func (c *closure) loadSteps(ctx context.Context, units []string) error {
	t := newStepTable()
	inserted := column.Add(&t.Set, "inserted_at", column.NewMillis())
	left := maxClosureSteps - c.steps
	p := c.reader.params().texts("units", units).number("limit", int64(max(0, left))+1)
	last := ""
	err := c.reader.query(ctx, sqlStepsOfUnits.with(t.Names()), p, &t.Set, func() error {
		for i := range t.Rows() {
			st := t.row(i)
			u := c.units[st.Unit]
			if u == nil {
				return fmt.Errorf("BUG: unit %q was not asked for", st.Unit)
			}
			u.add(st)
			u.arrived = max(u.arrived, inserted.Row(i)*1e6)
			c.steps++
			last = st.Unit
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.steps > maxClosureSteps {
		// The unit at the bound may be half there: what is given is whole units.
		u := c.units[last]
		c.steps -= len(u.steps)
		u.steps = nil
		c.cut(units)
	}
	return nil
}

func (c *closure) loadFacts(ctx context.Context, units []string) error {
	t := newFactTable()
	p := c.reader.params().texts("units", units)
	return c.reader.query(ctx, sqlFactsOfUnits.with(t.Names()), p, &t.Set, func() error {
		for i := range t.Rows() {
			if u := c.units[t.unit.Row(i)]; u != nil {
				u.facts = append(u.facts, *t.row(i))
			}
		}
		return nil
	})
}

// neighbours finds the units that may share a run with those of the frontier,
// joins them, and gives those that are not loaded yet.
func (c *closure) neighbours(ctx context.Context, frontier []string) ([]string, error) {
	tokens := make(map[string]struct{})
	for _, u := range frontier {
		c.tokensOf(u, tokens)
	}
	uses := make(map[string][]keyUse)
	err := chunks(slices.Sorted(maps.Keys(tokens)), func(part []string) error {
		return c.keys(ctx, part, uses)
	})
	if err != nil {
		return nil, err
	}
	var next []string
	for _, token := range slices.Sorted(maps.Keys(uses)) {
		for _, set := range joined(token, uses[token]) {
			for _, u := range set {
				if c.units[u] == nil {
					c.units[u] = &unitRows{parent: u}
					c.order = append(c.order, u)
					next = append(next, u)
				}
				c.join(set[0], u)
			}
		}
	}
	return next, nil
}

// tokensOf collects every token under which a unit may be found by another: its
// traces and what its spans state.
func (c *closure) tokensOf(unit string, tokens map[string]struct{}) {
	u := c.units[unit]
	if _, err := agent.ParseTraceID(unit); err == nil {
		tokens[unit] = struct{}{}
	}
	byRef := make(map[agent.Ref]agent.MessageFacts, len(u.facts))
	for _, f := range u.facts {
		byRef[f.Ref] = f
	}
	var facts []agent.MessageFacts
	for _, st := range u.steps {
		tokens[st.Trace.String()] = struct{}{}
		facts = facts[:0]
		for _, ref := range st.Model.Context {
			if f, ok := byRef[ref]; ok {
				facts = append(facts, f)
			}
		}
		for _, ref := range st.Model.Outputs {
			if f, ok := byRef[ref]; ok {
				facts = append(facts, f)
			}
		}
		stepKeys(st, facts, func(k unitKey) { tokens[k.token] = struct{}{} })
	}
}

func (c *closure) keys(ctx context.Context, tokens []string, uses map[string][]keyUse) error {
	var set column.Set
	token := column.Add(&set, "token", column.NewString())
	role := column.Add(&set, "role", newKeyTable().role)
	service := column.Add(&set, "service", column.NewDict())
	unit := column.Add(&set, "unit", column.NewString())
	p := c.reader.params().texts("tokens", tokens).number("per_token", maxUnitsPerToken)
	return c.reader.query(ctx, string(sqlKeysOfTokens), p, &set, func() error {
		for i := range set.Rows() {
			t := token.Row(i)
			uses[t] = append(uses[t], keyUse{keyRole(role.Row(i)), service.Row(i), unit.Row(i)})
		}
		return nil
	})
}

// groups gives the connected sets of units that have rows.
func (c *closure) groups() []agent.Group {
	at := make(map[string]int)
	var out []agent.Group
	for _, name := range c.order {
		u := c.units[name]
		root := c.root(name)
		if len(u.steps) == 0 && len(u.facts) == 0 {
			continue
		}
		i, ok := at[root]
		if !ok {
			i = len(out)
			at[root] = i
			out = append(out, agent.Group{
				Tenant: c.reader.tenant, Truncated: c.units[root].truncated,
				Input: agent.Input{Facts: make(map[agent.Ref]*agent.MessageFacts)},
			})
		}
		g := &out[i]
		g.Units = append(g.Units, name)
		g.Input.Steps = append(g.Input.Steps, u.steps...)
		for j := range u.facts {
			g.Input.Facts[u.facts[j].Ref] = &u.facts[j]
		}
		g.LastArrival = max(g.LastArrival, u.arrived)
		g.Truncated = g.Truncated || u.truncated
	}
	for i := range out {
		slices.Sort(out[i].Units)
	}
	return out
}

// loadLogs adds the content that came as log records of the groups' traces.
func (c *closure) loadLogs(ctx context.Context, groups []agent.Group) error {
	byTrace := make(map[string]int)
	for i := range groups {
		for _, st := range groups[i].Input.Steps {
			byTrace[hex.EncodeToString(st.Trace[:])] = i
		}
		for _, u := range groups[i].Units {
			if _, err := agent.ParseTraceID(u); err == nil {
				byTrace[u] = i
			}
		}
	}
	t := newLogTable()
	inserted := column.Add(&t.Set, "inserted_at", column.NewMillis())
	err := chunks(slices.Sorted(maps.Keys(byTrace)), func(part []string) error {
		p := c.reader.params().texts("traces", part).number("limit", maxClosureLogs)
		return c.reader.query(ctx, sqlLogsOfTraces.with(t.Names()), p, &t.Set, func() error {
			for i := range t.Rows() {
				l := t.row(i)
				g := &groups[byTrace[l.Trace.String()]]
				g.Input.Logs = append(g.Input.Logs, l)
				g.LastArrival = max(g.LastArrival, inserted.Row(i)*1e6)
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("log content: %w", err)
	}
	return nil
}

// mergeGroups makes one group of several: those of a run that was taken into
// another one, and of the units it had before.
func mergeGroups(groups []agent.Group) agent.Group {
	g := groups[0]
	for _, o := range groups[1:] {
		g.Units = append(g.Units, o.Units...)
		g.Input.Steps = append(g.Input.Steps, o.Input.Steps...)
		maps.Copy(g.Input.Facts, o.Input.Facts)
		g.Input.Logs = append(g.Input.Logs, o.Input.Logs...)
		g.LastArrival = max(g.LastArrival, o.LastArrival)
		g.Truncated = g.Truncated || o.Truncated
	}
	slices.Sort(g.Units)
	return g
}

func dedup(values []string) []string {
	seen := make(map[string]struct{}, len(values))
	out := make([]string, 0, len(values))
	for _, v := range values {
		if _, ok := seen[v]; !ok {
			seen[v] = struct{}{}
			out = append(out, v)
		}
	}
	return out
}
