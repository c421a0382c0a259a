package policy

// Reconciles tells whether the named tool is in the reconcile_with of a rule, its name taken as in [Policy.Tool], whatever class it
// has.
func (p *Policy) Reconciles(name string) bool {
	n := len(p.tools) - p.written
	return n > 0 && name != "" && firstForm(&p.implied, name, n) < n
}
