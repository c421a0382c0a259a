package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExitStatusTellsFailureFromWrongUsage(t *testing.T) {
	t.Setenv("STEPTRAIL_DATA_DIR", t.TempDir())
	for name, tc := range map[string]struct {
		args   []string
		status int
		stdout string
		stderr string
	}{
		"no command prints the help":           {nil, exitOK, "Available Commands", ""},
		"help has examples":                    {[]string{"serve", "--help"}, exitOK, "Examples:", ""},
		"help states the exit status":          {[]string{"validate", "--help"}, exitOK, "Exit status:", ""},
		"version names the collector":          {[]string{"version"}, exitOK, "collector v", ""},
		"--version is short":                   {[]string{"--version"}, exitOK, "steptrail dev\n", ""},
		"components names modules":             {[]string{"components"}, exitOK, "go.opentelemetry.io/collector/receiver/otlpreceiver", ""},
		"the built-in config is valid":         {[]string{"validate"}, exitOK, "", ""},
		"print-config shows the built-in one":  {[]string{"print-config"}, exitOK, "memory_limiter", ""},
		"--set changes the built-in config":    {[]string{"print-config", "--set", "extensions.health_check.endpoint=127.0.0.1:1"}, exitOK, "127.0.0.1:1\n", ""},
		"engine-host is for serve only":        {[]string{"engine-host"}, exitFailure, "", "started by serve"},
		"an unknown command is wrong usage":    {[]string{"srve"}, exitUsage, "", `unknown command "srve"; did you mean "serve"?`},
		"an unknown flag is wrong usage":       {[]string{"serve", "--confg", "x"}, exitUsage, "", "unknown flag: --confg"},
		"a stray argument is wrong usage":      {[]string{"serve", "config.yaml"}, exitUsage, "", "Run 'steptrail serve --help'"},
		"a missing config file is a failure":   {[]string{"validate", "--config", "/nowhere/config.yaml"}, exitFailure, "", "/nowhere/config.yaml"},
		"an unknown built-in is a failure":     {[]string{"validate", "--config", "builtin:nothing"}, exitFailure, "", "all-in-one"},
		"a config that is wrong is a failure":  {[]string{"validate", "--set", "processors.memory_limiter.limit_percentage=-1"}, exitFailure, "", "limit_percentage"},
		"an unknown component is named":        {[]string{"validate", "--set", "processors.batch.timeout=1s"}, exitFailure, "", "batch"},
		"a sweep of no store is a failure":     {[]string{"sweep", "--from", "2026-05-01T00:00:00Z"}, exitFailure, "", "no data is stored in"},
		"a settlement needs a way":             {[]string{"unknowns", "settle", "0f", "--actor", "ann"}, exitUsage, "", "--result must be applied or not_applied"},
		"a settlement needs an actor":          {[]string{"unknowns", "settle", "0f", "--result", "applied"}, exitUsage, "", "--actor must say who"},
		"a settlement needs an id":             {[]string{"unknowns", "settle"}, exitUsage, "", "want one id"},
		"an unknown feature gate is a failure": {[]string{"featuregate", "no.such.gate"}, exitFailure, "", "no.such.gate"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := run(t.Context(), tc.args, &stdout, &stderr)
			require.Equal(t, tc.status, status, "stderr: %s", &stderr)
			require.Contains(t, stdout.String(), tc.stdout)
			require.Contains(t, stderr.String(), tc.stderr)
			if tc.status == exitOK {
				require.Empty(t, stderr.String())
			}
		})
	}
}
