// Package arch holds no code: its tests keep the arrows between the packages of this module (which package may import
// which) and the purity of the core. The table in arrows_test.go is the architecture, as ADR 001 and the README draw it.
//
//	go list → imports of every package → table of allowed arrows → a failure names the arrow that is not allowed
package arch
