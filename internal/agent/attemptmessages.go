package agent

// messages are the input and output messages of a model call: of the innermost
// of its spans that has any.
func (b *builder) messages(c *cand) (in, out []Ref) {
	spans := b.sources(c)
	for i := len(spans) - 1; i >= 0; i-- {
		s := b.a.steps[spans[i]]
		if len(in) == 0 {
			in = b.a.inputs(s)
		}
		if len(out) == 0 {
			out = b.a.outputs(s)
		}
	}
	return in, out
}
