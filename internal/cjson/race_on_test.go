//go:build race

package cjson

// raceEnabled: under the race detector pools forget at random, so allocations
// are not counted.
const raceEnabled = true
