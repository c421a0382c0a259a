package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/policy"
	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/sweep"
)

// newRetentionCommand says and changes when stored rows expire.
func newRetentionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retention",
		Short: "Say what goes when; give stored rows the policy's terms of today",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRetentionShowCommand(), newRetentionApplyCommand())
	return cmd
}

func newRetentionShowCommand() *cobra.Command {
	var flags storeFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "What will go when, by table, week, tenant and class",
		Long: `List what is stored by when it expires: for each table, week (the partition), tenant and class the rows, their size on
disk (of the partition, by the share of rows), and when the last of them is due; with it the files go. What a hold keeps says held.

With the embedded engine, stop serve first: a data folder has one owner.

Exit status: 0 on success, 1 on failure, 2 on wrong usage.`,
		Example: `  steptrail retention show
  steptrail retention show --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.with(cmd.Context(), func(ctx context.Context, st *store.Store) error {
				due, err := st.Retention(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return writeDueJSON(cmd.OutOrStdout(), due)
				}
				return writeDue(cmd.OutOrStdout(), due)
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON")
	return cmd
}

func goes(d *store.Due) string {
	if d.Held {
		return "held"
	}
	return time.Unix(d.Last, 0).UTC().Format(time.RFC3339)
}

func writeDue(out io.Writer, due []store.Due) error {
	if len(due) == 0 {
		_, err := fmt.Fprintln(out, "nothing is stored")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TABLE\tCLASS\tTENANT\tWEEK\tGOES\tROWS\tBYTES")
	for i := range due {
		d := &due[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\n", d.Table, orDash(d.Class), oneLine(d.Tenant), d.Week, goes(d), d.Rows, d.Bytes)
	}
	return w.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func writeDueJSON(out io.Writer, due []store.Due) error {
	type line struct {
		Table  string `json:"table"`
		Class  string `json:"class"`
		Tenant string `json:"tenant"`
		Week   string `json:"week"`
		First  string `json:"first_due,omitempty"`
		Goes   string `json:"goes,omitempty"`
		Held   bool   `json:"held"`
		Rows   int64  `json:"rows"`
		Bytes  int64  `json:"bytes"`
	}
	lines := make([]line, 0, len(due))
	for i := range due {
		d := &due[i]
		l := line{Table: d.Table, Class: d.Class, Tenant: d.Tenant, Week: d.Week, Held: d.Held, Rows: d.Rows, Bytes: d.Bytes}
		if !d.Held {
			l.First, l.Goes = time.Unix(d.First, 0).UTC().Format(time.RFC3339), goes(d)
		}
		lines = append(lines, l)
	}
	return json.NewEncoder(out).Encode(map[string]any{"due": lines})
}

func newRetentionApplyCommand() *cobra.Command {
	var flags storeFlags
	var from, policyFile string
	var dry bool
	cmd := &cobra.Command{
		Use:   "apply --from DATE",
		Short: "Give stored rows the terms that the policy states today",
		Long: `Write stored rows again whose term differs from what the policy says today: of every unit with a span that ended at or
after a date, and of every finding since. A changed policy by itself counts for new rows only. Shorter terms delete what is over.
What a hold keeps stays. Interrupted, it may be run again; run again when all is done, it changes nothing. With --dry-run it
only says what it would do.

With the embedded engine, stop serve first: a data folder has one owner.

Exit status: 0 on success, 1 on failure (what is done is done: run it again), 2 on wrong usage.`,
		Example: `  steptrail retention apply --from 2026-05-01 --dry-run
  STEPTRAIL_POLICY_FILE=policy.yaml steptrail retention apply --from 2026-05-01`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			since, err := parseDate(from)
			if err != nil {
				return usageError{command: cmd.CommandPath(), err: err}
			}
			p, err := policyfile.LoadKeyless(policyFile)
			if err != nil {
				return err
			}
			return flags.with(cmd.Context(), func(ctx context.Context, st *store.Store) error {
				return applyTerms(ctx, cmd.OutOrStdout(), st, p, since, dry)
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&from, "from", "", "rows of spans since this `date` (2026-05-01, or RFC 3339); required")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().StringVar(&policyFile, "policy", fromEnv("STEPTRAIL_POLICY_FILE", policyfile.Demo), "the policy that states the terms: a path or "+policyfile.Demo)
	return cmd
}

func parseDate(s string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("--from %q: want a date such as 2026-05-01", s)
}

// unitsAtOnce is how many units are moved with one round of statements.
const unitsAtOnce = 500

// applyTerms moves every tenant's rows to their terms of today.
func applyTerms(ctx context.Context, out io.Writer, st *store.Store, p *policy.Policy, since time.Time, dry bool) error {
	tenants, err := st.Tenants(ctx)
	if err != nil {
		return err
	}
	verb := "rewriting"
	if dry {
		verb = "would rewrite"
	}
	fmt.Fprintf(out, "policy %s, spans since %s\n", p.Hash(), since.UTC().Format(time.RFC3339))
	for _, tenant := range tenants {
		units, err := st.UnitsMatching(ctx, tenant, agent.Selector{Scope: agent.ScopeTime, From: since.UnixNano(), To: math.MaxInt64}, 0)
		if err != nil {
			return err
		}
		total := map[string]int64{}
		for part := range slices.Chunk(units, unitsAtOnce) {
			moved, err := st.Move(ctx, tenant, part, termsOf(p), dry)
			if err != nil {
				return fmt.Errorf("tenant %q: %w", tenant, err)
			}
			for table, n := range moved {
				total[table] += n
			}
		}
		fmt.Fprintf(out, "tenant %s: %s rows of %d units:", oneLine(tenant), verb, len(units))
		for _, table := range slices.Sorted(maps.Keys(total)) {
			fmt.Fprintf(out, " %s %d", table, total[table])
		}
		fmt.Fprintln(out)
		if dry {
			continue
		}
		if err := finishTerms(ctx, st, p, tenant, since); err != nil {
			return fmt.Errorf("tenant %q: %w", tenant, err)
		}
	}
	return nil
}

// finishTerms has the moved units judged, so that derived rows follow, and
// deletes what was before.
func finishTerms(ctx context.Context, st *store.Store, p *policy.Policy, tenant string, since time.Time) error {
	names, err := st.MovedUnits(ctx, tenant)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		ids := make([]agent.UnitID, len(names))
		for i, name := range names {
			ids[i] = agent.UnitID{Tenant: tenant, Unit: name}
		}
		now := time.Now()
		if _, err := sweep.New(st, p, sweep.Config{}).Units(ctx, ids, now); err != nil {
			return err
		}
		if err := st.FinishMove(ctx, tenant, uint64(now.UnixNano())); err != nil { // after 1970
			return err
		}
	}
	return st.MoveFindings(ctx, tenant, since.UnixNano(), int64(p.Retention(tenant).Findings/time.Second))
}

// termsOf gives the terms of a span as the policy states them. Content that
// sampling left out and that was kept since, because a finding points to it,
// keeps the whole term.
func termsOf(p *policy.Policy) func(*agent.Step) (row, content int64) {
	return func(s *agent.Step) (row, content int64) {
		t := p.Terms(s)
		grace := s.Start/int64(time.Second) + int64((p.Sampling.Grace+policy.NewestStart)/time.Second)
		if full := p.FullContent(s); t.Content < full && s.ContentExpires > grace {
			return t.Row, full
		}
		return t.Row, t.Content
	}
}
