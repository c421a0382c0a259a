package query

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

const (
	defaultLimit  = 100
	maxLimit      = 500
	maxValue      = 4096 // bytes of a parameter's value or an id
	maxQueryBytes = 32 << 10
)

// parameters are the query parameters of each route; a test holds them against
// openapi.yaml.
var parameters = map[string][]string{
	"/api/v1/runs": {
		"from", "to", "trace", "agent", "task_type", "status", "outcome", "finding", "tool", "target", "user", "session",
		"model", "prompt_version", "scenario", "sort", "limit", "cursor",
	},
	"/api/v1/runs/:run_id":         {},
	"/api/v1/runs/:run_id/history": {"content", "format"},
	"/api/v1/findings":             {"from", "to", "run_id", "kind", "status", "severity", "tool", "agent", "limit", "cursor"},
	"/api/v1/findings/:finding_id": {},
	"/api/v1/unknowns":             {"run_id", "tool", "agent", "target", "status", "limit", "cursor"},
	resolutionRoute:                {},
	statsRoute:                     {"from", "to", "by", "bucket", "agent", "task_type", "tool", "model"},
	holdsRoute:                     {"status", "limit", "cursor"},
	holdRoute:                      {},
	erasuresRoute:                  {},
	erasureRoute:                   {},
	"/healthz":                     {},
	"/readyz":                      {},
	"/metrics":                     nil, // scrapers send what they like
	"/openapi.yaml":                {},
}

// checkParameters refuses what no handler would look at: a filter with a typing
// error would otherwise answer with everything.
func (s *Server) checkParameters(c *gin.Context) {
	for i, p := range c.Params {
		// gin would turn + into a space, so it is told to leave ids as they came.
		id, err := url.PathUnescape(p.Value)
		if err != nil || !utf8.ValidString(id) {
			s.fail(c, badParameter(p.Key, "must be percent-encoded UTF-8"))
			return
		}
		if len(id) > maxValue {
			s.fail(c, tooLong(p.Key))
			return
		}
		c.Params[i].Value = id
	}
	known := parameters[c.FullPath()]
	if known == nil || c.Request.URL.RawQuery == "" {
		return
	}
	if len(c.Request.URL.RawQuery) > maxQueryBytes {
		p := newProblem(400, "the query string is longer than "+strconv.Itoa(maxQueryBytes)+" bytes")
		p.Limit = maxQueryBytes
		s.fail(c, p)
		return
	}
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		s.fail(c, newProblem(400, "the query string is malformed: parameters are joined by & and percent-encoded"))
		return
	}
	if err := checkValues(known, values); err != nil {
		s.fail(c, err)
	}
}

func checkValues(known []string, values url.Values) error {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v := values[name]
		switch {
		case !slices.Contains(known, name):
			have := "none"
			if len(known) > 0 {
				have = strings.Join(known, ", ")
			}
			return badParameter(clip(name), "is no parameter of this call; it has: %s", have)
		case len(v) > 1:
			return badParameter(name, "is given %d times; give it once", len(v))
		case len(v[0]) > maxValue:
			return tooLong(name)
		case !utf8.ValidString(v[0]):
			return badParameter(name, "is not UTF-8")
		}
	}
	return nil
}

func tooLong(name string) *problemError {
	p := badParameter(name, "is longer than %d bytes", maxValue)
	p.Limit = maxValue
	return p
}

// clip keeps a foreign name short enough for an answer.
func clip(name string) string {
	const most = 64
	if len(name) > most {
		name = name[:most] + "…"
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

func parseLimit(s string) (int, error) {
	if s == "" {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxLimit {
		p := badParameter("limit", "must be a whole number from 1 to %d", maxLimit)
		p.Limit = maxLimit
		return 0, p
	}
	return n, nil
}

// parseTime reads an RFC 3339 time as Unix nanoseconds; 0 where there is none.
func parseTime(name, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	// A + that was not encoded arrives as a space; nowhere else has a time one.
	t, err := time.Parse(time.RFC3339Nano, strings.Replace(s, " ", "+", 1))
	if err != nil {
		return 0, badParameter(name, "must be a time such as 2026-07-01T12:00:00Z")
	}
	if t.Year() < 1700 || t.Year() > 2200 {
		return 0, badParameter(name, "must lie between the years 1700 and 2200")
	}
	if n := t.UnixNano(); n != 0 {
		return n, nil
	}
	return 1, nil // 0 is no bound; nothing began in the first nanosecond of 1970
}

func parseSpan(from, to string) (f, t int64, err error) {
	if f, err = parseTime("from", from); err != nil {
		return 0, 0, err
	}
	if t, err = parseTime("to", to); err != nil {
		return 0, 0, err
	}
	if f != 0 && t != 0 && f >= t {
		return 0, 0, badParameter("to", "must be later than from")
	}
	return f, t, nil
}

// oneOf reads an enum, naming the values where it is none of them.
func oneOf[T any](name, s string, parse func(string) (T, bool), values string) (v T, err error) {
	if s == "" {
		return v, nil
	}
	v, ok := parse(s)
	if !ok {
		return v, badParameter(name, "must be one of %s", values)
	}
	return v, nil
}

// checkKind refuses a kind of finding that there is not. The names of the
// policy's own rules are not held against today's policy: findings outlive it.
func (s *Server) checkKind(name, kind string) error {
	if kind == "" || len(s.opts.Kinds) == 0 || strings.HasPrefix(kind, "rule.") {
		return nil
	}
	known := slices.DeleteFunc(slices.Clone(s.opts.Kinds), func(k string) bool { return k == "rule" })
	if slices.Contains(known, kind) {
		return nil
	}
	return badParameter(name, "must be one of %s, or rule.NAME", strings.Join(known, ", "))
}

// checkKinds takes a whole group beside a single kind.
func (s *Server) checkKinds(name, kind string) error {
	group, ok := strings.CutSuffix(kind, ".*")
	if !ok || group == "" {
		return s.checkKind(name, kind)
	}
	if slices.ContainsFunc(s.opts.Kinds, func(k string) bool { return strings.HasPrefix(k+".", group+".") }) {
		return nil
	}
	return s.checkKind(name, kind)
}

func (s *Server) runFilter(ctx context.Context, p api.ListRunsParams) (f RunFilter, err error) {
	f = RunFilter{
		Agent: p.Agent, TaskType: p.TaskType, Finding: p.Finding, Tool: p.Tool,
		Model: p.Model, PromptVersion: p.PromptVersion, Scenario: p.Scenario,
	}
	for field, of := range map[Field]struct {
		value string
		into  *[]string
	}{FieldTarget: {p.Target, &f.Target}, FieldUser: {p.User, &f.User}, FieldSession: {p.Session, &f.Session}} {
		if *of.into, err = s.spelled(ctx, field, of.value); err != nil {
			return f, err
		}
	}
	if f.From, f.To, err = parseSpan(p.From, p.To); err != nil {
		return f, err
	}
	if p.Trace != "" {
		if f.Trace, err = agent.ParseTraceID(p.Trace); err != nil || f.Trace.IsZero() {
			return f, badParameter("trace", "must be 32 hex digits, not all zero")
		}
	}
	if f.Status, err = oneOf("status", p.Status, agent.ParseRunStatus, "running, ended, paused, stalled"); err != nil {
		return f, err
	}
	if f.Unstated = p.Outcome == string(api.RunOutcomeUnstated); !f.Unstated {
		f.Outcome, err = oneOf("outcome", p.Outcome, agent.ParseRunOutcome, "success, failure, escalated, limit, paused, abandoned, unstated")
		if err != nil {
			return f, err
		}
	}
	switch p.Sort {
	case "", "-started_at":
	case "started_at":
		f.Ascending = true
	default:
		return f, badParameter("sort", "must be -started_at or started_at")
	}
	if f.Limit, err = parseLimit(p.Limit); err != nil {
		return f, err
	}
	if p.Cursor != "" {
		f.After, err = f.after(p.Cursor)
	}
	return f, err
}

func findingFilter(p api.ListFindingsParams) (f FindingFilter, err error) {
	f = FindingFilter{Kind: p.Kind, Tool: p.Tool, Agent: p.Agent}
	if p.RunID != "" {
		f.Runs = []string{p.RunID}
	}
	if group, ok := strings.CutSuffix(p.Kind, ".*"); ok && group != "" {
		f.Kind, f.IsPrefix = group+".", true
	}
	if f.From, f.To, err = parseSpan(p.From, p.To); err != nil {
		return f, err
	}
	if f.Status, err = oneOf("status", p.Status, agent.ParseStatus, "open, resolved, withdrawn"); err != nil {
		return f, err
	}
	if f.Severity, err = oneOf("severity", p.Severity, agent.ParseSeverity, "info, warning, critical"); err != nil {
		return f, err
	}
	if f.Limit, err = parseLimit(p.Limit); err != nil {
		return f, err
	}
	if p.Cursor != "" {
		f.After, err = f.after(p.Cursor)
	}
	return f, err
}

func (s *Server) unknownFilter(ctx context.Context, p api.ListUnknownsParams) (f UnknownFilter, err error) {
	f = UnknownFilter{Run: p.RunID, Tool: p.Tool, Agent: p.Agent}
	if f.Target, err = s.spelled(ctx, FieldTarget, p.Target); err != nil {
		return f, err
	}
	f.Status, err = oneOf("status", p.Status, agent.ParseStatus, "open, resolved")
	if err == nil && f.Status == agent.StatusWithdrawn {
		err = badParameter("status", "must be one of open, resolved")
	}
	if err != nil {
		return f, err
	}
	if f.Limit, err = parseLimit(p.Limit); err != nil {
		return f, err
	}
	if p.Cursor != "" {
		f.After, err = f.after(p.Cursor)
	}
	return f, err
}
