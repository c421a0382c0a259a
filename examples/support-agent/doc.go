// Command support-agent is the worked example: a support agent refunds an order
// and the answer to the refund is lost. It plays the same story twice and sends
// its spans over OTLP with the OpenTelemetry SDK, as any agent would:
//
//   - naive: the call is tried again with nothing to tie it to the first try,
//     and the customer is refunded twice;
//   - designed: the refund carries a key derived from run, step, target and
//     action, a gate decides what may run, and the unknown outcome is looked up
//     before anything is done again.
//
// The model is a script and the payment service lives in this process; time is
// told, not waited for, so that a timeout of 30 s takes no time.
package main
