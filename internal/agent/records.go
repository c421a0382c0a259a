package agent

// records are the spans whose messages are a conversation that others had: those of
// agents, and in a run that shows no model call those of its transport too.
func (b *builder) records() (list []int32) {
	models := false
	for i := range b.cands {
		models = models || !b.cands[i].gone && b.cands[i].op == OpModel
	}
	for _, at := range b.g.nodes {
		s := b.a.steps[at]
		if b.a.nodes[at].isAgent || !models && (s.Op == OpWorkflow || s.Op == OpNone) && len(s.Model.Context)+len(s.Model.Outputs) > 0 {
			list = append(list, at)
		}
	}
	return list
}

// fillFromRecords gives executions that no model call of the run asked for what
// the run's records hold of them: arguments and results, by their call ids.
func (b *builder) fillFromRecords(answers map[answerKey][]answered) {
	var lack map[string][]int32
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || c.op != OpTool || c.callID == "" || c.request != nil || c.args.State == RecordedYes && c.result.State == RecordedYes {
			continue
		}
		if lack == nil {
			lack = map[string][]int32{}
		}
		lack[c.callID] = append(lack[c.callID], int32(i))
	}
	if lack == nil {
		return
	}
	for id, list := range lack {
		for _, i := range list {
			c := &b.cands[i]
			if told := answers[answerKey{id: id}]; len(told) > 0 && c.answer == nil {
				c.answer = told[0].answer
				if c.result.State != RecordedYes && c.answer.Result.State == RecordedYes {
					c.shown = c.answer.Result
				}
			}
		}
	}
	for _, at := range b.records() {
		s := b.a.steps[at]
		for _, list := range [...][]Ref{b.a.inputs(s), b.a.outputs(s)} {
			for _, r := range list {
				f := b.a.facts(r)
				for p := 0; f != nil && p < len(f.Calls); p++ {
					b.fillCall(&f.Calls[p], lack[f.Calls[p].ID])
				}
			}
		}
	}
}

func (b *builder) fillCall(call *RequestedCall, list []int32) {
	for _, i := range list {
		if c := &b.cands[i]; sameTool(c.tool, call.Tool) && c.args.State != RecordedYes && call.Arguments.State == RecordedYes {
			c.args, c.request = call.Arguments, call
		}
	}
}
