package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/steptrail/steptrail/internal/cli"
	"github.com/steptrail/steptrail/query/api"
)

// newUnknownsCommand lists unknown outcomes; its subcommand settles one.
func newUnknownsCommand() *cobra.Command {
	var flags apiFlags
	f := filters{}
	limit := 50
	cmd := &cobra.Command{
		Use:   "unknowns",
		Short: "List acts whose outcome is unknown, open ones first, oldest first",
		Long: `List acts of which nobody knows whether they took effect: since when, what the policy asks for next and until when, or how
they were settled. Open ones come first, the oldest at the top.

Exit status: 0 on success (also when there is none), 1 where the server cannot be asked or refuses, 2 on wrong usage.`,
		Example: `  steptrail unknowns --status open
  steptrail unknowns --tool issue_refund --json
  steptrail unknowns settle 3f0c… --result applied --actor ann --note "the refund is in the ledger"`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := f.query(limit)
			return flags.answer(cmd, query, []string{"unknowns"}, func(ctx context.Context, c *cli.Client, colours cli.Colours) error {
				list, err := c.Unknowns(ctx, query)
				if err != nil {
					return err
				}
				return cli.WriteUnknowns(cmd.OutOrStdout(), colours, list)
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().IntVar(&limit, "limit", limit, "how many, up to 500")
	f.add(cmd, "status", "status", "open (overdue ones too) or resolved")
	f.add(cmd, "run-id", "run_id", "those of this run")
	f.add(cmd, "tool", "tool", "those of this tool")
	f.add(cmd, "agent", "agent", "those of this agent")
	f.add(cmd, "target", "target", "acts on this target")
	f.add(cmd, "cursor", "cursor", "go on where a page ended")
	cmd.AddCommand(newSettleCommand())
	return cmd
}

// newSettleCommand says of one unknown outcome whether the act took effect.
func newSettleCommand() *cobra.Command {
	var flags apiFlags
	var said api.Resolution
	cmd := &cobra.Command{
		Use:   "settle ID",
		Short: "Say whether an act whose outcome is unknown took effect",
		Long: `Say of the unknown outcome with this id, as "steptrail unknowns" shows it, whether the act took effect, who says so, and how
they know. What was said cannot be taken back.

Exit status: 0 on success (also when the same was said before), 1 where it is settled the other way, the id is not known or
the server cannot be asked, 2 on wrong usage.`,
		Example: `  steptrail unknowns settle 3f0c… --result applied --actor ann --note "the refund is in the ledger"
  steptrail unknowns settle 3f0c… --result not_applied --actor ann`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{command: cmd.CommandPath(), err: fmt.Errorf("want one id, got %d arguments", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if said.Result != "applied" && said.Result != "not_applied" {
				return usageError{command: cmd.CommandPath(), err: errors.New("--result must be applied or not_applied")}
			}
			if said.Actor == "" {
				return usageError{command: cmd.CommandPath(), err: errors.New("--actor must say who settles it")}
			}
			client, err := flags.client(cmd)
			if err != nil {
				return err
			}
			body, err := client.Settle(cmd.Context(), args[0], &said)
			if err != nil {
				return err
			}
			if flags.json {
				return writeJSON(cmd, body)
			}
			u, err := cli.Decode[api.Unknown](body)
			if err != nil {
				return err
			}
			return cli.WriteUnknown(cmd.OutOrStdout(), colours(cmd), &u)
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&said.Result, "result", "", "applied: it took effect. not_applied: it did not")
	cmd.Flags().StringVar(&said.Actor, "actor", "", "who says so")
	cmd.Flags().StringVar(&said.Note, "note", "", "how they know")
	return cmd
}
