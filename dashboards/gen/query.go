package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/steptrail/steptrail/internal/store"
)

// Filters of the statements as the data source's plugin writes them: nothing
// where the variable selects all.
var (
	equal = regexp.MustCompile(`\(\{(\w+):String\} = '' OR (\w+) = \{\w+:String\}\)`)
	among = regexp.MustCompile(`\(\{(\w+):String\} = '' OR has\((\w+), \{\w+:String\}\)\)`)
)

// statement is one of the store's statements over many runs with the
// parameters of the API replaced by macros and variables of Grafana.
func statement(name, bucket string, by ...string) string {
	sql := store.StatsSQL(name)
	sql = equal.ReplaceAllStringFunc(sql, func(filter string) string {
		names := equal.FindStringSubmatch(filter)
		return isOneOf(names[2], names[1])
	})
	sql = among.ReplaceAllStringFunc(sql, func(filter string) string {
		names := among.FindStringSubmatch(filter)
		return fmt.Sprintf("$__conditionalAll(hasAny(%s, %s), $%s)", names[2], chosen(names[1]), names[1])
	})
	list := "CAST([], 'Array(String)')"
	if len(by) > 0 {
		list = "['" + strings.Join(by, "', '") + "']"
	}
	sql = strings.NewReplacer(
		"fromUnixTimestamp64Nano({from:Int64}, 'UTC')", "$__fromTime_ms",
		"fromUnixTimestamp64Nano({to:Int64}, 'UTC')", "$__toTime_ms",
		"{tenant:String}", value("tenant"),
		"{by:Array(String)}", list,
		"{bucket:Int64}", bucket,
		"{limit:UInt64}", "10000",
	).Replace(sql)
	if i := strings.Index(sql, "{"); i >= 0 && regexp.MustCompile(`\{\w+:[A-Z]`).MatchString(sql) {
		panic("BUG: " + name + " has a parameter that is not replaced")
	}
	return sql
}

// value is the SQL of a variable's one value. What spans say becomes the value
// of a variable: it is put in percent-encoded, since the formats of Grafana that
// quote (singlequote, sqlstring) leave the backslash, with which a value ends
// its quotes in ClickHouse.
func value(variable string) string { return "decodeURLComponent('${" + variable + ":percentencode}')" }

// chosen is the SQL of the list of a variable's values, which Grafana writes as
// var-name=a&var-name=b, each percent-encoded.
func chosen(variable string) string {
	return fmt.Sprintf("arrayMap(x -> decodeURLComponent(substring(x, %d)), splitByChar('&', '${%s:queryparam}'))", len("var-"+variable+"=")+1, variable)
}

// isOneOf is a filter of a column by a variable: nothing where that selects all.
func isOneOf(column, variable string) string {
	return fmt.Sprintf("$__conditionalAll(%s IN (SELECT arrayJoin(%s)), $%s)", column, chosen(variable), variable)
}

// series is a figure over time, a line for each group.
func series(name, figure, by string) string {
	return fmt.Sprintf(`SELECT toDateTime(bucket) AS time, %s AS "%s", figures['%s'] AS "%s"
FROM (
%s
)
WHERE mapContains(figures, '%[3]s')
ORDER BY time`, label(by), or(by, "all"), figure, figure, statement(name, "$__interval_s", parts(by)...))
}

// figuresOverTime are several figures of everything over time, a line each.
func figuresOverTime(name string, figures ...string) string {
	var columns []string
	for _, f := range figures {
		columns = append(columns, fmt.Sprintf(`figures['%[1]s'] AS %[2]s`, f, column(f)))
	}
	return fmt.Sprintf("SELECT toDateTime(bucket) AS time, %s\nFROM (\n%s\n)\nORDER BY time", strings.Join(columns, ", "), statement(name, "$__interval_s"))
}

// total is one figure of everything; nothing where it cannot be told.
func total(name, figure string) string {
	return fmt.Sprintf("SELECT figures['%[1]s'] AS \"%[1]s\"\nFROM (\n%[2]s\n)\nWHERE mapContains(figures, '%[1]s')", figure, statement(name, "0"))
}

// rows are figures by groups, the greatest of the first figure on top.
func rows(name string, by []string, figures ...string) string {
	var columns []string
	for _, g := range by {
		columns = append(columns, fmt.Sprintf(`by_group['%[1]s'] AS %[2]s`, g, column(g)))
	}
	for _, f := range figures {
		columns = append(columns, fmt.Sprintf(`if(mapContains(figures, '%[1]s'), figures['%[1]s'], NULL) AS "%[1]s"`, f))
	}
	return fmt.Sprintf("SELECT %s\nFROM (\n%s\n)\nORDER BY %s DESC", strings.Join(columns, ", "), statement(name, "0", by...), column(figures[0]))
}

// column is a column's name in SQL.
func column(name string) string { return `"` + name + `"` }

// label is the name of a line.
func label(by string) string {
	if by == "" {
		return "'all'"
	}
	return fmt.Sprintf("if(by_group['%[1]s'] = '', 'none', by_group['%[1]s'])", by)
}

func parts(by string) []string {
	if by == "" {
		return nil
	}
	return []string{by}
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

// findings lists findings that meet a condition, newest first.
func findings(where string) string {
	return `SELECT detected_at AS time, kind, toString(severity) AS severity, toString(status) AS status, agent, tool, message, run,
    waste_attempts, waste_tokens, waste_cost_nano / 1e9 AS waste_cost_usd, lower(hex(id)) AS finding
FROM findings FINAL
WHERE tenant = ` + value("tenant") + ` AND expires_at > now() AND status != 'withdrawn' AND $__timeFilter_ms(detected_at)
  AND ` + isOneOf("agent", "agent") + ` AND ` + isOneOf("tool", "tool") + `
  AND (` + where + `)
ORDER BY detected_at DESC
LIMIT 200`
}

// findingsOverTime counts them by kind.
func findingsOverTime(where string) string {
	return `SELECT $__timeInterval(detected_at) AS time, toString(kind) AS kind, count() AS findings
FROM findings FINAL
WHERE tenant = ` + value("tenant") + ` AND expires_at > now() AND status != 'withdrawn' AND $__timeFilter_ms(detected_at)
  AND ` + isOneOf("agent", "agent") + ` AND ` + isOneOf("tool", "tool") + `
  AND (` + where + `)
GROUP BY time, kind
ORDER BY time, kind`
}

// findingsBy counts them by tool and kind.
func findingsBy(where string) string {
	return `SELECT if(tool = '', 'none', toString(tool)) AS tool, toString(kind) AS kind, count() AS findings, countIf(status = 'open') AS open, max(detected_at) AS newest
FROM findings FINAL
WHERE tenant = ` + value("tenant") + ` AND expires_at > now() AND status != 'withdrawn' AND $__timeFilter_ms(detected_at)
  AND ` + isOneOf("agent", "agent") + ` AND ` + isOneOf("tool", "tool") + `
  AND (` + where + `)
GROUP BY tool, kind
ORDER BY findings DESC`
}
