// Package policy holds the demo policy that ships with the binary: what `steptrail serve` uses until it is given another. It knows
// only the bytes; what they mean is internal/policy's.
package policy

import _ "embed"

//go:embed demo.yaml
var demo string

// Demo is the demo policy, as YAML. The caller owns the bytes.
func Demo() []byte { return []byte(demo) }
