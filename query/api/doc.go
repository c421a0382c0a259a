// Package api is the HTTP API as openapi.yaml describes it: the description
// itself, and the models, gin wrappers and strict handler interface that are
// generated from it. It holds no behaviour but the encoding of times, money and
// stored JSON.
//
//	openapi.yaml → go generate → server.gen.go → package query implements it
package api

import _ "embed"

//go:generate go tool -modfile=../../tools/go.mod oapi-codegen -config codegen.yaml openapi.yaml

// Description is openapi.yaml, the source of this package.
//
//go:embed openapi.yaml
var Description []byte
