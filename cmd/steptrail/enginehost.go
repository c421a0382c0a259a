package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newEngineHostCommand stands for the process that holds the embedded engine. That process never gets here: main hands
// over to engine.ChildMain before it reads the command line. Who types the command is told so.
func newEngineHostCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "engine-host",
		Short:  "Hold the embedded engine (started by serve)",
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("engine-host is started by serve, which tells it what to open; it does nothing by itself")
		},
	}
}
