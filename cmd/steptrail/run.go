package main

import (
	"context"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/steptrail/steptrail/internal/cli"
)

// newRunCommand shows one run.
func newRunCommand() *cobra.Command {
	var api apiFlags
	content := "none"
	cmd := &cobra.Command{
		Use:   "run RUN_ID",
		Short: "Show one run as a timeline: steps, attempts, gate, outcome, findings",
		Long: `Show one run: every step with its attempts, what the gate decided, how each attempt ended, and what was found.
--json writes the whole history; --content says how much of what was said comes with it.

Exit status: 0 on success, 1 where the run is not known or the server cannot be asked, 2 on wrong usage.`,
		Example: `  steptrail run naive-20260501-120000
  steptrail run --json --content full naive-20260501-120000`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{command: cmd.CommandPath(), err: fmt.Errorf("want one run id, got %d arguments", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			query := url.Values{"content": {content}}
			return api.answer(cmd, query, []string{"runs", args[0], "history"}, func(ctx context.Context, c *cli.Client, colours cli.Colours) error {
				h, err := c.History(ctx, args[0])
				if err != nil {
					return err
				}
				return cli.WriteRun(cmd.OutOrStdout(), colours, h)
			})
		},
	}
	api.register(cmd)
	cmd.Flags().StringVar(&content, "content", content, "with --json: none, refs or full")
	return cmd
}
