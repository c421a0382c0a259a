package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/internal/redact"
	"github.com/steptrail/steptrail/processor/agentstepprocessor"
)

func newPolicyRedactCommand() *cobra.Command {
	var source string
	var otlp, text bool
	cmd := &cobra.Command{
		Use:   "redact [FILE]",
		Short: "Show what would be stored of a text or a recorded OTLP export",
		Long: `Show what the policy's redaction leaves of a text, of JSON lines, or of a recorded OTLP export. FILE may be -, as
without one: standard input. No server is asked and nothing is sent.

Text is read as a whole and written redacted. Input whose first line is a JSON object with an id and a text is read as
JSON lines {"id", "text"}; each gives a line {"id", "output", "found": [{"detector", "count"}]}. A value removed for a name
on the policy's list counts as "keys". --text reads such lines as text, too.

--otlp reads an export of traces or logs (JSON, JSON lines) and writes each record as a line of OTLP JSON, as it leaves the
processor: with canonical names, redacted. Spans without ids are left out, as serve drops them.

Without a redaction key in the environment one is made for the call: pseudonyms are then others in every call. A text that
redaction refuses to look through is shown as what is stored in its place.

Exit status: 0 on success, also where nothing or everything was removed; 1 on failure, also where a line or FILE cannot be
read; 2 on wrong usage.`,
		Example: `  echo "write to ann@example.com" | steptrail policy redact
  steptrail policy redact --policy policy.yaml samples.jsonl
  steptrail policy redact --otlp export.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usageError{command: cmd.CommandPath(), err: fmt.Errorf("want one file at most, got %d arguments", len(args))}
			case otlp && text:
				return usageError{command: cmd.CommandPath(), err: errors.New("--otlp and --text exclude each other")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			trial, err := agentstepprocessor.NewRedactionTrial(source)
			if err != nil {
				return err
			}
			data, err := readInput(args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			switch {
			case otlp:
				err = redactExport(out, trial, data)
			case !text && isLines(data):
				err = redactLines(out, trial, data)
			default:
				err = redactText(out, trial, data)
			}
			return errors.Join(err, out.Flush())
		},
	}
	cmd.Flags().StringVar(&source, "policy", fromEnv("STEPTRAIL_POLICY_FILE", policyfile.Demo), "the policy: a path or "+policyfile.Demo)
	cmd.Flags().BoolVar(&otlp, "otlp", false, "read a recorded OTLP export")
	cmd.Flags().BoolVar(&text, "text", false, "read text, whatever it looks like")
	return cmd
}

// readInput reads the file that the arguments name, or standard input.
func readInput(args []string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxExport+1))
	if err == nil && len(data) > maxExport {
		err = fmt.Errorf("the input is larger than %d MiB", maxExport>>20)
	}
	return data, err
}

// redactionLine is one text of JSON lines.
type redactionLine struct {
	ID   json.RawMessage `json:"id"`
	Text *string         `json:"text"`
}

func parseLine(line []byte) (redactionLine, error) {
	var l redactionLine
	if err := json.Unmarshal(line, &l); err != nil {
		return l, err
	}
	if l.ID == nil || l.Text == nil {
		return l, errors.New(`want an object with "id" and "text"`)
	}
	return l, nil
}

// isLines reports whether the first line that is not empty is one of JSON lines.
func isLines(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			_, err := parseLine(line)
			return err == nil
		}
	}
	return false
}

type redactedLine struct {
	ID     json.RawMessage `json:"id"`
	Output string          `json:"output"`
	Found  []foundJSON     `json:"found"`
}

type foundJSON struct {
	Detector string `json:"detector"`
	Count    int    `json:"count"`
}

func redactLines(w io.Writer, trial *agentstepprocessor.RedactionTrial, data []byte) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		l, err := parseLine(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		got, err := trial.Text(*l.Text)
		if err != nil {
			got = redact.Redacted{Stored: agentstepprocessor.RefusedText}
		}
		out := redactedLine{ID: l.ID, Output: got.Stored, Found: make([]foundJSON, 0, len(got.Found))}
		for _, f := range got.Found {
			out.Found = append(out.Found, foundJSON(f))
		}
		if err := enc.Encode(out); err != nil {
			return err
		}
	}
	return nil
}

func redactText(w io.Writer, trial *agentstepprocessor.RedactionTrial, data []byte) error {
	got, err := trial.Text(string(data))
	if err != nil {
		got.Stored = agentstepprocessor.RefusedText
	}
	_, err = io.WriteString(w, got.Stored)
	return err
}

// redactExport writes each record of an export as it would leave the processor.
func redactExport(w io.Writer, trial *agentstepprocessor.RedactionTrial, data []byte) error {
	records, err := jsonRecords(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		return fmt.Errorf("no OTLP export in JSON: %w", err)
	}
	if len(records) == 0 {
		return errors.New("no OTLP export: the input is empty")
	}
	for n, raw := range records {
		out, err := redactRecord(trial, raw)
		if err != nil {
			return fmt.Errorf("record %d: %w", n+1, err)
		}
		if _, err := w.Write(append(out, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func redactRecord(trial *agentstepprocessor.RedactionTrial, raw json.RawMessage) ([]byte, error) {
	var kind struct {
		ResourceSpans json.RawMessage `json:"resourceSpans"`
		ResourceLogs  json.RawMessage `json:"resourceLogs"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return nil, err
	}
	switch {
	case kind.ResourceSpans != nil:
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(raw)
		if err != nil {
			return nil, err
		}
		trial.Traces(td)
		return (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	case kind.ResourceLogs != nil:
		ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(raw)
		if err != nil {
			return nil, err
		}
		trial.Logs(ld)
		return (&plog.JSONMarshaler{}).MarshalLogs(ld)
	}
	return nil, errors.New(`neither "resourceSpans" nor "resourceLogs"`)
}
