package main

import (
	"fmt"
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
		quoted := make([]string, 0, len(values))
		for _, v := range values {
			quoted = append(quoted, "'"+strings.ReplaceAll(v, "'", `\'`)+"'")
		}
		sql = strings.ReplaceAll(sql, "${"+name+":singlequote}", strings.Join(quoted, ","))
	}
	require.Empty(t, leftMacro.FindAllString(sql, -1), "macros and variables that are left in %s", sql)
	return sql
}

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
		"x = ${tenant:singlequote} AND $__conditionalAll(agent IN (${agent:singlequote}), $agent)":    `x = 'it\'s' AND 1=1`,
		"$__conditionalAll(hasAny(tools, [${tool:singlequote}]), $tool) AND $__conditionalAll(y, $m)": "hasAny(tools, ['a','b']) AND 1=1",
	} {
		require.Equal(t, want, a.expand(t, in))
	}
}
