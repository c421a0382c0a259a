// Package alerts holds Prometheus rules with their runbook and tests. There is
// no code in it but the test that keeps them together.
package alerts
