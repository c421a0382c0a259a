package main

import (
	"context"
	"net/url"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/steptrail/steptrail/internal/cli"
)

// apiFlags are those of every subcommand that asks the query API.
type apiFlags struct {
	address string
	json    bool
}

func (f *apiFlags) register(cmd *cobra.Command) {
	address := os.Getenv("STEPTRAIL_QUERY_ENDPOINT")
	if address == "" {
		address = "127.0.0.1:8686"
	}
	cmd.Flags().StringVar(&f.address, "api", address, "`address` of the query API; the default comes from STEPTRAIL_QUERY_ENDPOINT")
	cmd.Flags().BoolVar(&f.json, "json", false, "write the API's answer as it is")
}

// answer asks the API and writes its answer, as JSON or as show writes it.
func (f *apiFlags) answer(cmd *cobra.Command, query url.Values, segments []string, show func(context.Context, *cli.Client, cli.Colours) error) error {
	client, err := f.client(cmd)
	if err != nil {
		return err
	}
	if !f.json {
		return show(cmd.Context(), client, colours(cmd))
	}
	body, err := client.Raw(cmd.Context(), query, segments...)
	if err != nil {
		return err
	}
	return writeJSON(cmd, body)
}

func (f *apiFlags) client(cmd *cobra.Command) (*cli.Client, error) {
	client, err := cli.NewClient(f.address)
	if err != nil {
		return nil, usageError{command: cmd.CommandPath(), err: err}
	}
	return client, nil
}

func writeJSON(cmd *cobra.Command, body []byte) error {
	_, err := cmd.OutOrStdout().Write(append(cli.Escaped(body), '\n'))
	return err
}

// colours are used only where a person reads: on a terminal, unless NO_COLOR
// says otherwise (https://no-color.org).
func colours(cmd *cobra.Command) cli.Colours {
	f, ok := cmd.OutOrStdout().(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && cli.Colours(info.Mode()&os.ModeCharDevice != 0)
}

// filters turns flags that were given into query parameters of the same name,
// with _ for -.
type filters map[string]*string

func (f filters) add(cmd *cobra.Command, flag, parameter, usage string) {
	f[parameter] = cmd.Flags().String(flag, "", usage)
}

func (f filters) query(limit int) url.Values {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	for parameter, value := range f {
		if *value != "" {
			q.Set(parameter, *value)
		}
	}
	return q
}
