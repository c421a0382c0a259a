package alerts

import (
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const (
	rulesFile = "steptrail.rules.yml"
	runbook   = "https://github.com/steptrail/steptrail/blob/main/alerts/runbook.md#"
)

type rule struct {
	Alert       string            `yaml:"alert"`
	Record      string            `yaml:"record"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// alerts are those of the rule file, in its order.
func alerts(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, rulesFile)), &file))
	var out []rule
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Alert != "" {
				out = append(out, r)
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

func TestEveryAlertSaysHowUrgentItIsAndWhereToLook(t *testing.T) {
	for _, a := range alerts(t) {
		require.Contains(t, []string{"page", "ticket"}, a.Labels["severity"], a.Alert)
		require.NotEmpty(t, a.Annotations["summary"], a.Alert)
		require.NotEmpty(t, a.Annotations["description"], a.Alert)
		require.Equal(t, runbook+strings.ToLower(a.Alert), a.Annotations["runbook_url"], a.Alert)
		path, ok := strings.CutPrefix(a.Annotations["link"], "{{ $externalLabels.steptrail_url }}")
		require.True(t, ok, "%s: the link begins with the public address", a.Alert)
		_, err := url.Parse(regexp.MustCompile(`\{\{ urlquery \$labels\.\w+ \}\}`).ReplaceAllString(path, "x"))
		require.NoError(t, err, a.Alert)
		require.NotContains(t, regexp.MustCompile(`\{\{ urlquery [^}]+\}\}`).ReplaceAllString(path, ""), "{{", "%s: labels are text of strangers: urlquery them", a.Alert)
	}
}

func TestEveryAlertHasASectionOfTheRunbookAndNoSectionIsLeftOver(t *testing.T) {
	sections := map[string]string{}
	for part := range strings.SplitSeq(read(t, "runbook.md"), "\n## ") {
		if name, text, ok := strings.Cut(part, "\n"); ok && !strings.HasPrefix(name, "# ") {
			sections[name] = text
		}
	}
	for _, a := range alerts(t) {
		for _, what := range []string{"**Meaning.** ", "**First look.** ", "**What to do.** "} {
			require.Contains(t, sections[a.Alert], what, a.Alert)
		}
		delete(sections, a.Alert)
	}
	require.Empty(t, sections)
}

// A test that fires names the alert in what it expects, one that stays quiet
// asks for it and expects nothing.
func TestEveryAlertIsTestedToFireAndToStayQuiet(t *testing.T) {
	var fires, quiet []string
	names := regexp.MustCompile(`alertname="(\w+)"`)
	for _, file := range []string{"steptrail.rules.test.yml", "steptrail.days.test.yml"} {
		var tests struct {
			Tests []struct {
				Alerts []struct {
					Name string `yaml:"alertname"`
					Exp  []any  `yaml:"exp_alerts"`
				} `yaml:"alert_rule_test"`
				Exprs []struct {
					Expr string `yaml:"expr"`
					Exp  []struct {
						Labels string `yaml:"labels"`
					} `yaml:"exp_samples"`
				} `yaml:"promql_expr_test"`
			} `yaml:"tests"`
		}
		require.NoError(t, yaml.Unmarshal([]byte(read(t, file)), &tests))
		for _, one := range tests.Tests {
			for _, e := range one.Exprs {
				for _, s := range e.Exp {
					fires = append(fires, names.FindStringSubmatch(s.Labels)[1])
				}
				if len(e.Exp) > 0 {
					continue
				}
				for _, a := range alerts(t) {
					matcher := regexp.MustCompile(`alertname=~?"([^"]+)"`).FindStringSubmatch(e.Expr)
					if regexp.MustCompile("^(" + matcher[1] + ")$").MatchString(a.Alert) {
						quiet = append(quiet, a.Alert)
					}
				}
			}
		}
	}
	for _, a := range alerts(t) {
		require.Contains(t, fires, a.Alert, "no test in which it fires")
		require.Contains(t, quiet, a.Alert, "no test in which it must not")
	}
}

// tool finds a program of Debian's prometheus packages. STEPTRAIL_TEST_PROMETHEUS
// says what happens where it is missing: required (the test fails), else it is
// skipped.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("STEPTRAIL_TEST_PROMETHEUS") == "required" {
		t.Fatalf("%s is not installed: scripts/require.sh %s", name, name)
	}
	if err != nil {
		t.Skipf("%s is not installed (Debian: prometheus, prometheus-alertmanager)", name)
	}
	return path
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), tool(t, name), args...).CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestTheRulesAreWhatPrometheusReads(t *testing.T) {
	run(t, "promtool", "check", "rules", rulesFile)
}

func TestTheAlertsFireAndStayQuiet(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	run(t, "promtool", "test", "rules", "steptrail.rules.test.yml", "steptrail.days.test.yml")
}

func TestTheRoutingIsWhatAlertmanagerReads(t *testing.T) {
	run(t, "amtool", "check-config", "alertmanager.example.yml")
	var cfg struct {
		Inhibit []struct {
			Source []string `yaml:"source_matchers"`
			Target []string `yaml:"target_matchers"`
		} `yaml:"inhibit_rules"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "alertmanager.example.yml")), &cfg))
	known := alerts(t)
	for _, inhibit := range cfg.Inhibit {
		for _, m := range slices.Concat(inhibit.Source, inhibit.Target) {
			_, list, _ := strings.Cut(m, "=")
			for name := range strings.SplitSeq(strings.Trim(list, `~ "`), "|") {
				require.True(t, slices.ContainsFunc(known, func(a rule) bool { return a.Alert == name }), name)
			}
		}
	}
}
