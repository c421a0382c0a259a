package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/collector/otelcol"

	"github.com/steptrail/steptrail/collector"
	"github.com/steptrail/steptrail/collector/config"
)

// newRootCommand builds the command tree. The subcommands that otelcol brings (its root is our serve) are hung in as
// they are, with the built-in config as their default.
func newRootCommand(version string) *cobra.Command {
	root := &cobra.Command{
		Use:   "steptrail",
		Short: "An OpenTelemetry collector for AI agents",
		Long: `Steptrail is an OpenTelemetry collector for AI agents. Agents send it their spans; it links every attempt of every
step of a run, flags loops, duplicate side effects and unknown outcomes, and keeps the result in ClickHouse.

Exit status: 0 on success and after a clean shutdown, 1 on failure, 2 on wrong usage.`,
		Example: `  steptrail serve
  steptrail runs
  steptrail run RUN_ID
  steptrail findings --status open
  steptrail unknowns --status open`,
		Version: version,
		// How many letters a mistyped subcommand may be off to get a suggestion.
		SuggestionsMinimumDistance: 2,

		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{command: cmd.CommandPath(), err: err}
	})
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")

	serve := otelcol.NewCommand(collector.Settings(version))
	upstream := make(map[string]*cobra.Command)
	for _, sub := range serve.Commands() {
		upstream[sub.Name()] = sub
	}
	serve.RemoveCommand(serve.Commands()...)

	root.AddCommand(
		serveCommand(serve),
		validateCommand(upstream["validate"]),
		printConfigCommand(upstream["print-config"]),
		componentsCommand(upstream["components"]),
		featureGateCommand(upstream["featuregate"]),
		newRunsCommand(),
		newRunCommand(),
		newFindingsCommand(),
		newUnknownsCommand(),
		newPolicyCommand(),
		newMigrateCommand(),
		newSweepCommand(),
		newRetentionCommand(),
		newVersionCommand(version),
		newEngineHostCommand(),
	)
	return root
}

// noArgs refuses positional arguments as wrong usage; for the root command that is an unknown subcommand.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("%s takes no argument %q", cmd.CommandPath(), args[0])
	if cmd.HasSubCommands() {
		err = fmt.Errorf("unknown command %q", args[0])
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			err = fmt.Errorf("unknown command %q; did you mean %q?", args[0], near[0])
		}
	}
	return usageError{command: cmd.CommandPath(), err: err}
}

// defaultToBuiltin makes cmd read the built-in config where the command line names none.
func defaultToBuiltin(cmd *cobra.Command) {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("config") {
			return nil
		}
		return cmd.Flags().Set("config", config.AllInOne)
	}
}
