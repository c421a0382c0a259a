package main

import "github.com/spf13/cobra"

// validateCommand describes otelcol's validate.
func validateCommand(cmd *cobra.Command) *cobra.Command {
	cmd.Short = "Check a config and its policy without running anything"
	cmd.Long = `Check a config: every key, and that the pipelines can be built, which reads the policy. Nothing is started and no port
opened. Without --config the built-in config is checked, with the STEPTRAIL_ variables as they are set.

Prints nothing when all is well. Exit status: 0 valid, 1 not valid, 2 on wrong usage.`
	cmd.Example = `  steptrail validate
  steptrail validate --config mine.yaml
  STEPTRAIL_POLICY_FILE=policy.yaml steptrail validate`
	cmd.Args = noArgs
	defaultToBuiltin(cmd)
	return cmd
}
