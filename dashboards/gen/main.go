// Command gen writes the Grafana dashboards: one function each says what it
// shows, and the JSON beside this folder is made from it.
//
//	internal/store/sql/stats_*.sql → panels → dashboards/*.json
//
// It knows no Grafana server. README.md says what each dashboard answers.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ..

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1) //nolint:forbidigo // this is a main
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: gen FOLDER")
	}
	for _, d := range all() {
		board, err := d.build()
		if err != nil {
			return fmt.Errorf("%s: %w", d.uid, err)
		}
		text, err := json.MarshalIndent(board, "", "  ")
		if err != nil {
			return fmt.Errorf("%s: %w", d.uid, err)
		}
		if err := os.WriteFile(filepath.Join(args[0], d.uid+".json"), append(text, '\n'), 0o644); err != nil { //nolint:gosec // files of the repository
			return err
		}
	}
	return nil
}

// all is every dashboard, in the order in which they link to each other.
func all() []dash {
	return []dash{overview(), reliability(), loops(), costs(), oneRun(), itself()}
}
