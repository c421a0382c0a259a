package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/store"
	"github.com/steptrail/steptrail/internal/sweep"
)

// newSweepCommand judges stored history again.
func newSweepCommand() *cobra.Command {
	var flags storeFlags
	var from, to, policyFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sweep --from TIME [--to TIME]",
		Short: "Judge stored history again, with the policy as it is now",
		Long: `Judge again every run that got spans between two times, quiet or not, and write down what differs. serve sweeps by
itself; this is for after a change of policy or a repair. Changes are known for two days.

Thresholds, limits, rules' severities and deadlines are those of the policy as it is now. What a policy says of a tool
(class, target, key, approval, repeatable) was decided when each span came and stays as it was.

With the embedded engine, stop serve first: a data folder has one owner.

Exit status: 0 on success, 1 on failure (what was judged is written), 2 on wrong usage.`,
		Example: `  steptrail sweep --from 2026-05-01T00:00:00Z --to 2026-05-02T00:00:00Z
  STEPTRAIL_POLICY_FILE=policy.yaml steptrail sweep --from 2026-05-01T00:00:00Z`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			begin, end, err := timeRange(from, to, time.Now())
			if err != nil {
				return usageError{command: cmd.CommandPath(), err: err}
			}
			p, err := policyfile.LoadKeyless(policyFile)
			if err != nil {
				return err
			}
			return flags.with(cmd.Context(), func(ctx context.Context, st *store.Store) error {
				stats, err := sweep.New(st, p, sweep.Config{}).Range(ctx, begin, end, time.Now())
				if err != nil {
					return err
				}
				return writeStats(cmd, stats, asJSON)
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&from, "from", "", "judge what arrived at or after this `time` (RFC 3339); required")
	cmd.Flags().StringVar(&to, "to", "", "and before this `time` (RFC 3339); now where it is left out")
	cmd.Flags().StringVar(&policyFile, "policy", fromEnv("STEPTRAIL_POLICY_FILE", policyfile.Demo), "the policy to judge by: a path or "+policyfile.Demo)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON")
	return cmd
}

func timeRange(from, to string, now time.Time) (begin, end time.Time, err error) {
	if begin, err = time.Parse(time.RFC3339, from); err != nil {
		return begin, end, fmt.Errorf("--from %q: want a time such as 2026-05-01T00:00:00Z", from)
	}
	end = now.Add(time.Minute) // the store's clock may be ahead
	if to != "" {
		if end, err = time.Parse(time.RFC3339, to); err != nil {
			return begin, end, fmt.Errorf("--to %q: want a time such as 2026-05-02T00:00:00Z", to)
		}
	}
	if !begin.Before(end) {
		return begin, end, fmt.Errorf("--from %s does not lie before --to %s", begin.Format(time.RFC3339), end.Format(time.RFC3339))
	}
	return begin, end, nil
}

func writeStats(cmd *cobra.Command, s sweep.Stats, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]int{
			"runs": s.Runs, "spans": s.Spans, "findings_written": s.Findings, "findings_withdrawn": s.Withdrawn, "truncated": s.Truncated,
		})
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "judged %d runs from %d spans; wrote %d findings, %d of them withdrawn\n", s.Runs, s.Spans, s.Findings, s.Withdrawn)
	return err
}
