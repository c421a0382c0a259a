package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/steptrail/steptrail/internal/cli"
)

// newRunsCommand lists runs.
func newRunsCommand() *cobra.Command {
	var api apiFlags
	f := filters{}
	limit := 20
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List runs, newest first",
		Long: `List the runs that a running Steptrail knows, newest first: when, which agent, how it ended, what was found.

Exit status: 0 on success, 1 where the server cannot be asked or refuses, 2 on wrong usage.`,
		Example: `  steptrail runs
  steptrail runs --agent support --from 2026-05-01T00:00:00Z
  steptrail runs --finding key.duplicate --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := f.query(limit)
			return api.answer(cmd, query, []string{"runs"}, func(ctx context.Context, c *cli.Client, colours cli.Colours) error {
				list, err := c.Runs(ctx, query)
				if err != nil {
					return err
				}
				return cli.WriteRuns(cmd.OutOrStdout(), colours, list)
			})
		},
	}
	api.register(cmd)
	cmd.Flags().IntVar(&limit, "limit", limit, "how many, up to 500")
	f.add(cmd, "agent", "agent", "runs of this agent")
	f.add(cmd, "from", "from", "runs that began at or after this `time` (RFC 3339)")
	f.add(cmd, "to", "to", "runs that began before this `time` (RFC 3339)")
	f.add(cmd, "status", "status", "running, ended, paused or stalled")
	f.add(cmd, "outcome", "outcome", "success, failure, escalated, limit, paused, abandoned or unstated")
	f.add(cmd, "task-type", "task_type", "runs of this task type")
	f.add(cmd, "finding", "finding", "runs with a finding of this kind")
	f.add(cmd, "tool", "tool", "runs that used this tool")
	f.add(cmd, "target", "target", "runs that touched this target")
	f.add(cmd, "user", "user", "runs of this user")
	f.add(cmd, "session", "session", "runs of this session")
	f.add(cmd, "model", "model", "runs in which this model answered")
	f.add(cmd, "prompt-version", "prompt_version", "runs with this version of a prompt")
	f.add(cmd, "scenario", "scenario", "runs that replay this scenario")
	f.add(cmd, "trace", "trace", "runs with spans in this trace")
	f.add(cmd, "cursor", "cursor", "go on where a page ended")
	return cmd
}
