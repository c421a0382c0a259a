package main

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asked is what Grafana puts into a query.
type asked struct {
	from, to  time.Time
	interval  time.Duration
	variables map[string][]string // absent or empty: all
}

var (
	simpleMacro = regexp.MustCompile(`\$__(timeFilter_ms|timeFilter|timeInterval)\((\w+)\)`)
	leftMacro   = regexp.MustCompile(`\$__\w+|\$\{?\w+`)
)

// expand does what the data source's plugin does before it sends a query, for
// the macros that our panels use.
func (a *asked) expand(t *testing.T, sql string) string {
	t.Helper()
	sql = a.conditions(t, sql)
	milli := func(at time.Time) string { return fmt.Sprintf("fromUnixTimestamp64Milli(%d)", at.UnixMilli()) }
	sql = simpleMacro.ReplaceAllStringFunc(sql, func(m string) string {
		part := simpleMacro.FindStringSubmatch(m)
		switch col := part[2]; part[1] {
		case "timeFilter_ms":
			return col + " >= " + milli(a.from) + " AND " + col + " <= " + milli(a.to)
		case "timeFilter":
			return fmt.Sprintf("%s >= toDateTime(%d) AND %s <= toDateTime(%d)", col, a.from.Unix(), col, a.to.Unix())
		default:
			return fmt.Sprintf("toStartOfInterval(toDateTime(%s), INTERVAL %d second)", col, int(a.interval.Seconds()))
		}
	})
	sql = strings.NewReplacer("$__fromTime_ms", milli(a.from), "$__toTime_ms", milli(a.to),
		"$__interval_s", fmt.Sprint(int(a.interval.Seconds()))).Replace(sql)
	for name, values := range a.variables {
		parts := make([]string, 0, len(values))
		for _, v := range values {
			parts = append(parts, "var-"+name+"="+percentEncode(v))
		}
		sql = strings.ReplaceAll(sql, "${"+name+":queryparam}", strings.Join(parts, "&"))
		if len(values) == 1 { // of several Grafana makes {a,b}
			sql = strings.ReplaceAll(sql, "${"+name+":percentencode}", percentEncode(values[0]))
		}
	}
	require.Empty(t, leftMacro.FindAllString(sql, -1), "macros and variables that are left in %s", sql)
	return sql
}

func percentEncode(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// conditions replaces $__conditionalAll(condition, $variable).
func (a *asked) conditions(t *testing.T, sql string) string {
	t.Helper()
	const name = "$__conditionalAll("
	for {
		at := strings.LastIndex(sql, name)
		if at < 0 {
			return sql
		}
		depth, comma, end := 0, -1, -1
		for i := at + len(name) - 1; i < len(sql) && end < 0; i++ {
			switch sql[i] {
			case '(':
				depth++
			case ',':
				if depth == 1 {
					require.Negative(t, comma, "two arguments: %s", sql[at:])
					comma = i
				}
			case ')':
				if depth--; depth == 0 {
					end = i
				}
			}
		}
		require.True(t, comma > 0 && end > comma, sql[at:])
		variable := strings.TrimPrefix(strings.TrimSpace(sql[comma+1:end]), "$")
		condition := "1=1"
		if len(a.variables[variable]) > 0 {
			condition = sql[at+len(name) : comma]
		}
		sql = sql[:at] + condition + sql[end+1:]
	}
}

func TestMacrosBecomeWhatThePluginMakesOfThem(t *testing.T) {
	a := &asked{from: time.Unix(100, 0), to: time.Unix(200, 5e6), interval: time.Minute, variables: map[string][]string{"tenant": {"it's"}, "tool": {"a", "b"}}}
	for in, want := range map[string]string{
		"$__timeFilter(at)":    "at >= toDateTime(100) AND at <= toDateTime(200)",
		"$__timeFilter_ms(at)": "at >= fromUnixTimestamp64Milli(100000) AND at <= fromUnixTimestamp64Milli(200005)",
		"$__timeInterval(at)":  "toStartOfInterval(toDateTime(at), INTERVAL 60 second)",
		"$__interval_s":        "60",
		"x = '${tenant:percentencode}' AND $__conditionalAll(f(agent, '${agent:queryparam}'), $agent)": "x = 'it%27s' AND 1=1",
		"$__conditionalAll(f(tools, '${tool:queryparam}'), $tool) AND $__conditionalAll(y, $m)":        "f(tools, 'var-tool=a&var-tool=b') AND 1=1",
	} {
		require.Equal(t, want, a.expand(t, in))
	}
}

var variableInSQL = regexp.MustCompile(`'?\$\{[^}]*\}'?|\[\[\w+`)

// The names of tools, agents, models, tasks and runs are what spans say.
func TestNoValueOfAVariableEndsItsQuotes(t *testing.T) {
	hostile := &asked{interval: time.Minute, variables: map[string][]string{}}
	plain := &asked{interval: time.Minute, variables: map[string][]string{}}
	for _, name := range []string{"agent", "task_type", "tool", "model"} {
		hostile.variables[name] = []string{`\') OR 1=1 --`, `'`, `\`, "a&var-" + name + "=b+c", "$__timeFilter(x)", "${run}", "[[run]]", "\n"}
		plain.variables[name] = []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	}
	for _, name := range []string{"tenant", "run"} {
		hostile.variables[name], plain.variables[name] = []string{`\' OR 1=1 -- ${tool} $__fromTime`}, []string{"a"}
	}
	encoded := regexp.MustCompile(`(%[0-9A-F]{2}|[\w.~-])+('|&)`)
	check := func(sql, name string) {
		for _, v := range variableInSQL.FindAllString(sql, -1) {
			require.Regexp(t, `^'\$\{\w+:(percentencode|queryparam)\}'$`, v, name)
		}
		bare := func(s string) string { return encoded.ReplaceAllString(s, "v$2") }
		require.Equal(t, bare(plain.expand(t, sql)), bare(hostile.expand(t, sql)), name)
	}
	seen := 0
	for _, d := range all() {
		for _, p := range d.panels {
			if p.sql != "" {
				check(p.sql, d.uid+" / "+p.title)
				seen++
			}
		}
		for _, v := range d.variables() {
			if model, err := v.Build(); err == nil && model.Query != nil && model.Query.String != nil && strings.HasPrefix(*model.Query.String, "SELECT") {
				check(*model.Query.String, d.uid+" $"+model.Name)
				seen++
			}
		}
	}
	require.Greater(t, seen, 40)
}
