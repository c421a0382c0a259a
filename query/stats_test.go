package query

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/query/api"
)

func (m *memory) Stats(_ context.Context, _ agent.Statistic, f agent.StatsFilter) ([]agent.StatsRow, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = f
	return m.figures, m.fail
}

const statsPath = "/api/v1/stats/{statistic}"

func TestFiguresAreGivenByGroupAndBucket(t *testing.T) {
	f := start(t, nil)
	f.memory.figures = []agent.StatsRow{{Bucket: 7200, Group: map[string]string{"tool": "<b>\x00\xff"}, Figures: map[string]float64{"attempts": 3, "error_rate": 1.0 / 3}}}
	got := decode[api.Stats](t, f, 200, statsPath, "/api/v1/stats/tool_errors?by=tool,agent&bucket=1h&agent=a&task_type=b&tool=c&model=d&from=1970-01-01T01:00:00Z")
	begin := api.Timestamp(7200 * time.Second)
	require.Equal(t, api.Stats{Stats: []api.StatsRow{{
		Bucket: &begin, Group: map[string]string{"tool": "<b>\x00\ufffd"}, Figures: map[string]float64{"attempts": 3, "error_rate": 1.0 / 3},
	}}}, got)
	require.Equal(t, agent.StatsFilter{
		From: 3600e9, Bucket: 3600, By: []string{"tool", "agent"}, Agent: "a", TaskType: "b", Tool: "c", Model: "d", Limit: maxStatsRows,
	}, f.memory.asked)

	f.memory.figures[0].Group = map[string]string{}
	got = decode[api.Stats](t, f, 200, statsPath, "/api/v1/stats/success")
	require.Nil(t, got.Stats[0].Bucket, "no buckets were asked for")
	f.memory.figures = make([]agent.StatsRow, maxStatsRows)
	for i := range f.memory.figures {
		f.memory.figures[i] = agent.StatsRow{Group: map[string]string{}, Figures: map[string]float64{}}
	}
	require.True(t, decode[api.Stats](t, f, 200, statsPath, "/api/v1/stats/success").Truncated)
}

func TestEveryStatisticOfTheDescriptionIsAnswered(t *testing.T) {
	f := start(t, nil)
	enum := f.spec.Paths.Value(statsPath).Get.Parameters.GetByInAndName("path", "statistic").Schema.Value.Enum
	require.Len(t, enum, len(agent.Statistics()))
	for _, name := range enum {
		groups, ok := agent.Statistics()[agent.Statistic(name.(string))]
		require.True(t, ok, name)
		for _, g := range groups {
			decode[api.Stats](t, f, 200, statsPath, "/api/v1/stats/"+name.(string)+"?by="+g)
		}
	}
}

func TestAWrongQuestionForFiguresIsToldWhatIsRight(t *testing.T) {
	f := start(t, nil)
	for path, want := range map[string]struct {
		status    int
		parameter string
		detail    string
	}{
		"success?by=tool":         {400, "by", "task_type, agent, model, prompt_version"},
		"success?by=agent,":       {400, "by", "joined by commas"},
		"cost?bucket=1":           {400, "bucket", "1h"},
		"cost?bucket=1s":          {400, "bucket", "from 1m"},
		"cost?bucket=90000h":      {400, "bucket", "8784h"},
		"cost?bucket=60.5s":       {400, "bucket", "whole seconds"},
		"latency?from=yesterday":  {400, "from", "2026"},
		"latency?limit=3":         {400, "limit", "is no parameter"},
		"happiness":               {404, "", "cost, escalations, findings"},
		"cost%2F..%2F..%2Fsecret": {404, "", "no such statistic"},
	} {
		p := f.problem(t, want.status, statsPath, "/api/v1/stats/"+path)
		require.Equal(t, want.parameter, p.Parameter, path)
		require.Contains(t, p.Detail, want.detail, path)
	}
}
