package main

import "github.com/spf13/cobra"

// printConfigCommand describes otelcol's print-config.
func printConfigCommand(cmd *cobra.Command) *cobra.Command {
	cmd.Short = "Print the config as it is after all files and variables are merged"
	cmd.Long = `Print the resolved config, defaults included. Secrets are replaced by [REDACTED] unless --mode=unredacted is given.
Without --config it prints the built-in config.

Exit status: 0 on success, 1 if the config cannot be read or is not valid, 2 on wrong usage.`
	cmd.Example = `  steptrail print-config
  steptrail print-config --config builtin:all-in-one --config mine.yaml`
	cmd.Args = noArgs
	defaultToBuiltin(cmd)
	return cmd
}
