package detect

import (
	"cmp"
	"strconv"

	"github.com/steptrail/steptrail/internal/agent"
)

// bytesPerToken is what a token counts where content is absent.
const bytesPerToken = 4

// contextBloat raises context.bloat: a tool result that is too large, or a model
// input that is, has at least doubled since the first of its lane and model, and
// was never shortened.
func contextBloat(x *scene) []agent.Finding {
	limit := int64(x.detection.ContextBytes)
	if limit <= 0 {
		return nil
	}
	found := x.largeResults(limit, nil)
	lanes := x.inLanes()
	for i := range lanes {
		found = x.growingInputs(&lanes[i], limit, found)
	}
	return found
}

func (x *scene) largeResults(limit int64, found []agent.Finding) []agent.Finding {
	for _, m := range x.timeline() {
		switch m.step.Kind {
		case agent.KindRead, agent.KindAct, agent.KindReconcile:
		default:
			continue
		}
		if m.at.Result.Size <= limit {
			continue
		}
		found = append(found, agent.Finding{
			Anchor: m.at.Tool, Severity: agent.SeverityInfo, Step: m.step.ID, Tool: m.at.Tool, Agent: m.step.Agent, DetectedAt: max(m.at.End, m.at.Start),
			Evidence: []agent.Evidence{evidence(m.at)},
			Message: what(m.at.Tool, m.at.Target) + " returned " + size(m.at.Result.Size) + " where " + size(limit) +
				" are thought enough; every later model call pays for it: return less, or a page at a time",
		})
	}
	return found
}

// growth follows the inputs of one model in a lane.
type growth struct {
	first, before int64
	shortened     bool
	broke         moment // the first input that is too large and has doubled
	size          int64  // of that
}

func (x *scene) growingInputs(l *lane, limit int64, found []agent.Finding) []agent.Finding {
	if len(l.models) < 2 {
		return found
	}
	var all []*growth
	models := map[string]*growth{}
	for _, m := range l.models {
		n := inputSize(m.at)
		if n <= 0 {
			continue
		}
		asked := &m.at.Step().Model
		name := cmp.Or(asked.Requested, asked.Served)
		g := models[name]
		if g == nil {
			g = &growth{first: n, before: n}
			models[name] = g
			all = append(all, g)
			continue
		}
		g.shortened = g.shortened || 10*n <= 9*g.before
		g.before = n
		if g.broke.at == nil && n > limit && n >= 2*g.first {
			g.broke, g.size = m, n
		}
	}
	for _, g := range all {
		if g.broke.at == nil || g.shortened {
			continue
		}
		m := g.broke
		found = append(found, agent.Finding{
			Severity: agent.SeverityInfo, Step: m.step.ID, Agent: m.step.Agent, DetectedAt: max(m.at.End, m.at.Start), Evidence: []agent.Evidence{evidence(m.at)},
			Message: "the input of the model grew from " + size(g.first) + " to " + size(g.size) + " and was never shortened; " + size(limit) +
				" are thought enough: drop or sum up what is no longer needed",
		})
	}
	return found
}

// inputSize is the bytes of a model call's input; where its content is absent,
// four for each token.
func inputSize(a *agent.Attempt) int64 {
	if n := a.Facts().InputSize; n > 0 {
		return n
	}
	return a.Tokens.Input * bytesPerToken
}

// size gives bytes as a person says them.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return strconv.FormatInt(n, 10) + " bytes"
	case n < 1<<20:
		return strconv.FormatInt(n>>10, 10) + " KiB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}
