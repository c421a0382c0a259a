package agent

// splitByCount makes the attempts that a model call's one span counts
// (conventions, "Attempt"). Those before the last failed, and how long each took
// is not known: the last one has the span's time.
func (b *builder) splitByCount() {
	for i, n := 0, len(b.cands); i < n; i++ {
		c := &b.cands[i]
		if c.gone || c.op != OpModel || c.class != classModel || c.parts {
			continue
		}
		attempts := 0
		for _, at := range b.members(c) {
			if facts := b.a.steps[at].Facts; factsHead(facts)&factsHasAttempts != 0 {
				attempts = max(attempts, int(ParseCallFacts(facts).Attempts))
			}
		}
		if attempts < 2 {
			continue
		}
		if c.frame < 0 {
			c.frame = c.node
		}
		whole := *c
		c.part = uint16(attempts)
		for k := 1; k < attempts; k++ {
			part := whole
			part.part, part.early, part.counted, part.end = uint16(k), true, true, whole.start
			b.cands = append(b.cands, part)
		}
	}
}
