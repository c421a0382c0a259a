# The one way to build, test and run Steptrail. `make help` lists the targets.
#
# Needed: Go (the version in go.mod) and npm, for the embedded engine; a C compiler for the race detector, which
# scripts/require.sh installs where it may.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build

GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
TOOL := $(GO) tool -modfile=tools/go.mod
# Everything but the black-box tests, which need the built program and run after.
UNIT = $(shell $(GO) list ./... | grep -v '/e2e$$')
# A module of its own, which ./... leaves out.
PEERBENCH := internal/redact/peerbench
# Benchmarks run this often, fuzz tests this long.
BENCH_COUNT ?= 6
FUZZTIME ?= 10s
# Ends a package whose tests hang. On an idle machine none takes ten minutes, on a busy one some do.
TEST_TIMEOUT ?= 2h

# The version comes from VERSION; without this, Go refuses to build in a tree whose .git belongs to somebody else.
export GOFLAGS := $(GOFLAGS) -buildvcs=false

# The engine's library is required in tests; STEPTRAIL_TEST_ENGINE=skip leaves those tests out.
export STEPTRAIL_TEST_ENGINE ?= required

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# ---- build

.PHONY: build
build: engine binary ## bin/steptrail, ready to run, with the engine package

.PHONY: binary
binary: require-go
	@echo "compiling (the first time takes some minutes and prints nothing)"
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/steptrail ./cmd/steptrail

.PHONY: engine
engine: node_modules/.package-lock.json ## install the embedded engine's library (npm)

# npm writes this file last; a broken installation is done again.
node_modules/.package-lock.json: package.json package-lock.json
	scripts/require.sh npm
	npm ci --ignore-scripts --no-audit --no-fund
	touch $@

.PHONY: demo
demo: build ## the worked example, live: starts everything, plays it, prints what was found, stays up
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/support-agent ./examples/support-agent
	scripts/demo.sh

.PHONY: ocb
ocb: require-go ## the same components by the upstream builder: bin/ocb/steptrail-ocb
	mkdir -p bin
	cd collector && $(GO) tool -modfile=../tools/go.mod builder --config builder.yaml

.PHONY: generate
generate: require-go ## write generated code anew
	$(GO) generate ./...

.PHONY: fmt
fmt: require-go ## format all Go files
	$(TOOL) golangci-lint fmt

.PHONY: clean
clean: ## remove what the targets above made (not data folders)
	rm -rf bin node_modules .cache

# ---- test

.PHONY: test
test: vet unit e2e ## everything: formatting, vet, unit tests with the race detector, black-box tests

.PHONY: vet
vet: require-go
	@unformatted=$$(gofmt -l $$($(GO) list -f '{{.Dir}}' ./...) $(PEERBENCH) | sort -u); \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	cd $(PEERBENCH) && $(GO) vet ./...

.PHONY: unit
unit: require-go require-cc try-prometheus engine
	CGO_ENABLED=1 $(GO) test -race -timeout $(TEST_TIMEOUT) $(UNIT)
	cd $(PEERBENCH) && $(GO) test ./...

.PHONY: e2e
e2e: build try-prometheus ## black-box tests against bin/steptrail
	STEPTRAIL_BIN=$(CURDIR)/bin/steptrail $(GO) test -count 1 -timeout $(TEST_TIMEOUT) ./e2e

.PHONY: test-engine
test-engine: require-go engine ## only the tests of the embedded engine and of what runs on it
	$(GO) test -count 1 -timeout $(TEST_TIMEOUT) ./internal/engine/... ./internal/store/... ./schema/...

.PHONY: fuzz
fuzz: require-go ## every fuzz test for FUZZTIME
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: fuzz-path
fuzz-path: require-go engine ## the whole path of a span, from an OTLP body to the queue's bytes, for FUZZTIME
	scripts/fuzz.sh $(FUZZTIME) ./exporter/agentstoreexporter FuzzReceiveToRow

.PHONY: bench-micro
bench-micro: require-go ## ns and allocations per operation, also of the contrib redaction processor, BENCH_COUNT runs, medians
	scripts/bench-micro.sh $(BENCH_COUNT)

.PHONY: redaction-report
redaction-report: require-go ## recall and precision of redaction on the labelled corpus, per detector
	@$(GO) test -count 1 -v -run '^TestCorpus$$' ./internal/redact -args -report

.PHONY: lint
lint: require-go ## golangci-lint, built from tools/go.mod
	$(TOOL) golangci-lint run --timeout 20m
	cd $(PEERBENCH) && $(GO) tool -modfile=$(CURDIR)/tools/go.mod golangci-lint run --timeout 20m

.PHONY: fresh
fresh: require-go
	scripts/fresh.sh

.PHONY: check
check: fresh lint ocb test ## the linters, and what CI runs but for fuzzing
# Nothing is skipped there: without Debian's prometheus packages the tests of the alerts fail.
check: export STEPTRAIL_TEST_PROMETHEUS ?= required

# ---- prerequisites

.PHONY: require-%
require-%:
	@scripts/require.sh $*

# Installed where it may be; else the tests that need it are skipped and say so.
.PHONY: try-%
try-%:
	@scripts/require.sh --try $*
