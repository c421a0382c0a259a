//go:build !race

package cjson

const raceEnabled = false
