// Package otlpguardextension is a middleware of the otlp receiver's HTTP server.
// It answers what the receiver by itself takes wrongly or answers vaguely: the
// body of another signal gets 400 with the right path, a body over the limit
// gets 413, and what is refused is counted by reason. What a span means it does
// not know; it looks at the first bytes of a body and passes it on as it came.
//
//	auth → decompression, size limit → otlpguard → otlp receiver
package otlpguardextension
