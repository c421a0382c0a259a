package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

const otelcolModule = "go.opentelemetry.io/collector/otelcol"

// newVersionCommand prints what somebody needs to name this build in a report.
func newVersionCommand(version string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program, its collector and Go",
		Long: `Print the version of this program, of the OpenTelemetry collector and the Go release it was built with.

Exit status: 0 on success, 2 on wrong usage.`,
		Example: "  steptrail version",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "steptrail %s (collector %s, %s, %s/%s)\n",
				version, collectorVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// collectorVersion returns the version of the linked otelcol module, or "unknown" in a binary without build
// information.
func collectorVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == otelcolModule {
				return dep.Version
			}
		}
	}
	return "unknown"
}
