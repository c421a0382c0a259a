package main

import "github.com/spf13/cobra"

// componentsCommand describes otelcol's components.
func componentsCommand(cmd *cobra.Command) *cobra.Command {
	cmd.Short = "List the components in this binary, with their modules and versions"
	cmd.Long = `List the receivers, processors, exporters, extensions and config providers in this binary, as YAML, with the module and
version of each and how stable it is per signal.

Exit status: 0 on success, 2 on wrong usage.`
	cmd.Example = `  steptrail components`
	cmd.Args = noArgs
	return cmd
}

// featureGateCommand describes otelcol's featuregate.
func featureGateCommand(cmd *cobra.Command) *cobra.Command {
	cmd.Short = "List the collector's feature gates, or show one"
	cmd.Long = `List the feature gates of the collector that this program is built on. Set one with serve --feature-gates.

Exit status: 0 on success, 1 if there is no such gate.`
	cmd.Example = `  steptrail featuregate
  steptrail serve --feature-gates=+some.gate`
	return cmd
}
