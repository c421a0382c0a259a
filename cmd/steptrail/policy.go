package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/steptrail/steptrail/internal/policyfile"
	"github.com/steptrail/steptrail/processor/agentstepprocessor"
)

// newPolicyCommand holds what works on a policy alone.
func newPolicyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Work on a policy: try its rules and its redaction",
		Long: `Work on a policy. Nothing is sent and no server is asked. validate checks a policy together with its config.

Exit status: 0 on success, 1 on failure, 2 on wrong usage.`,
		Example: `  steptrail policy test --rule large_refund export.json
  echo "write to ann@example.com" | steptrail policy redact`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyTestCommand(), newPolicyRedactCommand())
	return cmd
}

func newPolicyTestCommand() *cobra.Command {
	var rule, source string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test --rule NAME FILE",
		Short: "Try one rule of the policy on a recorded OTLP export",
		Long: `Try one rule of the policy on recorded spans, and show which meet it. FILE is an OTLP export of traces: JSON, JSON lines
(as the collector's file exporter writes them) or protobuf; - is standard input.

Spans are shown, and the rule sees them, after dialect and redaction: attributes have their canonical names, and what the
policy redacts is gone. Without a redaction key in the environment one is made for the trial. --json shows the attributes too.

Exit status: 0 where the rule was tried, whether spans meet it or not; 1 on failure, also where FILE is no export or the
policy has no such rule; 2 on wrong usage.`,
		Example: `  steptrail policy test --rule large_refund export.json
  STEPTRAIL_POLICY_FILE=policy.yaml steptrail policy test --rule large_refund --json spans.jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return usageError{command: cmd.CommandPath(), err: fmt.Errorf("want one file, got %d arguments", len(args))}
			case rule == "":
				return usageError{command: cmd.CommandPath(), err: errors.New("--rule must name a rule of the policy")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			trial, err := agentstepprocessor.NewRuleTrial(source, rule)
			if err != nil {
				return err
			}
			others, err := eachExport(args[0], cmd.InOrStdin(), trial.Try)
			if err != nil {
				return err
			}
			if asJSON {
				return writeTrialJSON(cmd.OutOrStdout(), trial, others)
			}
			return writeTrial(cmd.OutOrStdout(), trial, others)
		},
	}
	cmd.Flags().StringVar(&rule, "rule", "", "the `name` of the rule; required")
	cmd.Flags().StringVar(&source, "policy", fromEnv("STEPTRAIL_POLICY_FILE", policyfile.Demo), "the policy: a path or "+policyfile.Demo)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON, with the spans' attributes")
	return cmd
}

func writeTrial(w io.Writer, trial *agentstepprocessor.RuleTrial, others int) error {
	r, rule := trial.Result(), trial.Rule()
	out := fmt.Appendf(nil, "%d of %d spans meet rule %s (%s): %s\n", len(r.Met), r.Spans, rule.Name, rule.Severity, oneLine(rule.Condition))
	for i := range r.Met {
		s := &r.Met[i]
		out = fmt.Appendf(out, "  %s %s  %s", s.TraceID, s.SpanID, oneLine(s.Name))
		for _, part := range [...][2]string{{"kind", s.Kind}, {"tool", s.Tool}, {"target", s.Target}, {"service", s.Service}, {"run", s.Run}} {
			if part[1] != "" {
				out = fmt.Appendf(out, "  %s=%s", part[0], oneLine(part[1]))
			}
		}
		out = append(out, '\n')
	}
	for _, text := range slices.Sorted(maps.Keys(r.Failed)) {
		out = fmt.Appendf(out, "on %d spans the condition failed: %s\n", r.Failed[text], oneLine(text))
	}
	if r.Dropped > 0 {
		out = fmt.Appendf(out, "%d spans without ids were passed over, as serve drops them\n", r.Dropped)
	}
	if others > 0 {
		out = fmt.Appendf(out, "%d records hold no spans\n", others)
	}
	_, err := w.Write(out)
	return err
}

// oneLine makes foreign text fit for one line of a terminal.
func oneLine(s string) string {
	quoted := strconv.Quote(s)
	if inner := quoted[1 : len(quoted)-1]; inner == s {
		return s
	}
	return quoted
}

type trialJSON struct {
	Rule      string         `json:"rule"`
	Severity  string         `json:"severity"`
	Condition string         `json:"condition"`
	Spans     int            `json:"spans"`
	Dropped   int            `json:"dropped"`
	Others    int            `json:"records_without_spans"`
	Failed    map[string]int `json:"failed"`
	Met       []spanJSON     `json:"met"`
}

type spanJSON struct {
	TraceID    string            `json:"trace_id"`
	SpanID     string            `json:"span_id"`
	Name       string            `json:"name"`
	Service    string            `json:"service"`
	Run        string            `json:"run_id"`
	Kind       string            `json:"kind"`
	Tool       string            `json:"tool"`
	Target     string            `json:"target"`
	Attributes map[string]string `json:"attributes"`
}

func writeTrialJSON(w io.Writer, trial *agentstepprocessor.RuleTrial, others int) error {
	r, rule := trial.Result(), trial.Rule()
	out := trialJSON{
		Rule: rule.Name, Severity: rule.Severity.String(), Condition: rule.Condition,
		Spans: r.Spans, Dropped: r.Dropped, Others: others, Failed: r.Failed, Met: make([]spanJSON, 0, len(r.Met)),
	}
	for i := range r.Met {
		out.Met = append(out.Met, spanJSON(r.Met[i]))
	}
	return json.NewEncoder(w).Encode(out)
}
