// Package agentanalyzerextension runs the sweep over stored history: it wakes up
// at an interval, lets package sweep judge what changed, and counts what it did.
// It knows no rules and no tables.
package agentanalyzerextension
