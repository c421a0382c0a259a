package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/steptrail/steptrail/internal/store"
)

// newMigrateCommand brings the tables to the newest version.
func newMigrateCommand() *cobra.Command {
	flags := storeFlags{mayCreate: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create the tables, or bring them to this version",
		Long: `Create the database and its tables, or bring them to the version of this program. serve does so by itself; this is for
deployments that let nothing but a release step change tables (agentstorage: migrate: false).

With the embedded engine, stop serve first: a data folder has one owner.

Exit status: 0 when the tables are at this version, 1 on failure (done in part: run it again), 2 on wrong usage.`,
		Example: `  steptrail migrate
  STEPTRAIL_CLICKHOUSE_DSN=clickhouse://clickhouse:9000/steptrail steptrail migrate`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.with(cmd.Context(), func(context.Context, *store.Store) error {
				if asJSON {
					_, err := fmt.Fprintln(cmd.OutOrStdout(), `{"migrated":true}`)
					return err
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "the tables are at this version")
				return err
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON")
	return cmd
}
