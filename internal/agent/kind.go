package agent

// classify tells what a span does (conventions, "Kind"): policy, then what the
// span states, then its dialect, then evidence, then act.
func (b *builder) classify(c *cand) {
	s, nd := b.span(c), &b.a.nodes[c.node]
	c.kind, c.source = s.Kind, s.KindSource
	switch s.Op {
	case OpModel:
		c.class = classModel
		b.defaultKind(c, KindThink, KindSourceDialect)
	case OpHuman:
		b.defaultKind(c, KindHuman, KindSourceDialect)
	case OpRetrieval:
		b.defaultKind(c, KindRead, KindSourceEvidence)
	case OpHandoff:
		c.kind = KindOther
		b.defaultKind(c, KindOther, KindSourceDialect)
	case OpWorkflow:
		b.defaultKind(c, KindOther, KindSourceDialect)
	case OpTool:
		b.classifyTool(c, s, nd)
	default: // a gate's decision, or a span that only states a kind
		b.defaultKind(c, KindAct, KindSourceDefault)
	}
	if c.class != classModel {
		c.class = classOf(c.kind)
	}
}

func classOf(k Kind) class {
	switch k {
	case KindHuman:
		return classHuman
	case KindReconcile:
		return classReconcile
	case KindOther:
		return classOther
	case KindThink:
		return classModel
	case KindUnset, KindRead, KindAct:
	}
	return classTool
}

func (b *builder) defaultKind(c *cand, k Kind, src KindSource) {
	if c.kind == KindUnset {
		c.kind, c.source = k, src // a source without a kind says nothing
	} else if c.source == KindSourceUnset {
		c.source = KindSourceReported
	}
}

func (b *builder) classifyTool(c *cand, s *Step, nd *node) {
	switch {
	case nd.model && c.source == KindSourcePolicy && c.kind != KindOther:
		// A tool or activity span around a model call is structure, whatever
		// the policy says of its name.
		c.kind, c.source = KindOther, KindSourceDialect
	case c.kind != KindUnset && (c.source == KindSourceReported || c.source == KindSourcePolicy):
	case isHandoffName(s.Call.Tool):
		c.op, c.kind, c.source = OpHandoff, KindOther, KindSourceDialect
	case s.Call.OutputFunction || isOutputName(s.Call.Tool):
		c.kind, c.source = KindOther, KindSourceDialect
	case nd.model:
		c.kind, c.source = KindOther, KindSourceDialect
	case c.kind != KindUnset:
		b.defaultKind(c, c.kind, KindSourceDialect)
	case nd.below:
		c.kind, c.source = KindRead, KindSourceEvidence
	default:
		if k := b.kindByRequests(c.node); k != KindUnset {
			c.kind, c.source = k, KindSourceEvidence
			return
		}
		c.kind, c.source = KindAct, KindSourceDefault
	}
}

// kindByRequests: a tool whose HTTP requests and database operations only look is
// a read, one that sends or changes something an act. Unset where none tells.
func (b *builder) kindByRequests(at int32) Kind {
	kind := b.kindByDatabase(at, 0)
	if kind == KindAct {
		return kind
	}
	for _, h := range b.httpBelow(at, nil) {
		s := b.a.steps[h]
		switch {
		case s.HTTP.Method == "" || carriesCall(s):
		case !isSafe(s.HTTP.Method):
			return KindAct
		default:
			kind = KindRead
		}
	}
	return kind
}

// kindByDatabase looks at the operations below a node that no step and no agent
// stands before.
func (b *builder) kindByDatabase(at int32, depth int) Kind {
	kind := KindUnset
	for c := b.a.nodes[at].child; c >= 0 && depth < maxDepth; c = b.a.nodes[c].sibling {
		nd, s := &b.a.nodes[c], b.a.steps[c]
		if nd.isAgent || nd.step || nd.run != b.run {
			continue
		}
		below := b.kindByDatabase(c, depth+1)
		switch {
		case below == KindAct, s.Call.Effect == EffectMutating:
			return KindAct
		case below == KindRead, s.Call.Effect == EffectReadOnly:
			kind = KindRead
		}
	}
	return kind
}
