package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// decision is what the gate says about a call that wants to run.
type decision string

const (
	gateNew       decision = "new"       // run it
	gateDuplicate decision = "duplicate" // it has run: here is the recorded result
	gateInFlight  decision = "in_flight" // another worker runs it
	gateUnknown   decision = "unknown"   // it may have run: reconcile first
)

// record is what the gate remembers of a key.
type record struct {
	state  decision
	result string
}

// gate decides, by idempotency key, which acts may run. A real one keeps its
// records in a database with a unique index on the key.
type gate struct{ records map[string]record }

func newGate() *gate { return &gate{records: map[string]record{}} }

// keyOf derives the key of an act from what makes it this act and no other.
// Attempts of one step share it; another step, target or action has its own.
func keyOf(run, step, target, action string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{run, step, target, action}, "\x1f")))
	return hex.EncodeToString(sum[:16])
}

// enter asks for permission to run. After gateNew the caller must call leave.
func (g *gate) enter(key string) (decision, string) {
	r, known := g.records[key]
	if !known {
		g.records[key] = record{state: gateInFlight}
		return gateNew, ""
	}
	return r.state, r.result
}

// leave records how the act ended: gateDuplicate with its result, or
// gateUnknown.
func (g *gate) leave(key string, state decision, result string) {
	g.records[key] = record{state: state, result: result}
}
