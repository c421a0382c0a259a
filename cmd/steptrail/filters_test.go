package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/steptrail/steptrail/query/api"
)

var flagName = regexp.MustCompile(`(?m)^ +--([a-z-]+)`)

// The lists have a flag for each filter of the API, and none that it refuses.
func TestTheFlagsOfTheListsAreTheParametersOfTheAPI(t *testing.T) {
	var spec struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Name string `yaml:"name"`
					Ref  string `yaml:"$ref"`
				} `yaml:"parameters"`
			} `yaml:"get"`
		} `yaml:"paths"`
	}
	require.NoError(t, yaml.Unmarshal(api.Description, &spec))
	for path, cmd := range map[string]*cobra.Command{
		"/api/v1/runs": newRunsCommand(), "/api/v1/findings": newFindingsCommand(), "/api/v1/unknowns": newUnknownsCommand(),
	} {
		var want, got []string
		for _, p := range spec.Paths[path].Get.Parameters {
			name := p.Name
			if p.Ref != "" {
				name = strings.ToLower(p.Ref[strings.LastIndexByte(p.Ref, '/')+1:])
			}
			if name != "sort" { // the newest come first
				want = append(want, strings.ReplaceAll(name, "_", "-"))
			}
		}
		for _, m := range flagName.FindAllStringSubmatch(cmd.LocalNonPersistentFlags().FlagUsages(), -1) {
			if m[1] != "api" && m[1] != "json" {
				got = append(got, m[1])
			}
		}
		require.ElementsMatch(t, want, got, path)
	}
}
