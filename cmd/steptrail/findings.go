package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/steptrail/steptrail/internal/cli"
)

// newFindingsCommand lists findings.
func newFindingsCommand() *cobra.Command {
	var api apiFlags
	f := filters{}
	limit := 50
	cmd := &cobra.Command{
		Use:   "findings",
		Short: "List findings, newest first",
		Long: `List what was found: duplicate side effects, unknown outcomes, loops and the rest, newest first.

Exit status: 0 on success (also when nothing was found), 1 where the server cannot be asked or refuses, 2 on wrong usage.`,
		Example: `  steptrail findings --status open --severity critical
  steptrail findings --run-id naive-20260501-120000
  steptrail findings --kind key.duplicate --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := f.query(limit)
			return api.answer(cmd, query, []string{"findings"}, func(ctx context.Context, c *cli.Client, colours cli.Colours) error {
				list, err := c.Findings(ctx, query)
				if err != nil {
					return err
				}
				return cli.WriteFindings(cmd.OutOrStdout(), colours, list)
			})
		},
	}
	api.register(cmd)
	cmd.Flags().IntVar(&limit, "limit", limit, "how many, up to 500")
	f.add(cmd, "run-id", "run_id", "findings of this run")
	f.add(cmd, "kind", "kind", "findings of this kind, such as key.duplicate")
	f.add(cmd, "status", "status", "open, resolved or withdrawn")
	f.add(cmd, "severity", "severity", "info, warning or critical")
	f.add(cmd, "tool", "tool", "findings about this tool")
	f.add(cmd, "agent", "agent", "findings in runs of this agent")
	f.add(cmd, "from", "from", "found at or after this `time` (RFC 3339)")
	f.add(cmd, "to", "to", "found before this `time` (RFC 3339)")
	f.add(cmd, "cursor", "cursor", "go on where a page ended")
	return cmd
}
