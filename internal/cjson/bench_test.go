package cjson

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const callArguments = `{"order_id":"7731","amount":59.00,"currency":"EUR","reason":"item arrived damaged","request_id":"08dde47f-7cf5-5208-96b1-4da4ce82c7e6","lines":[{"sku":"A-1","qty":2},{"sku":"B-9","qty":1}]}`

const callResult = `{"refund_id":"rf_91","status":"paid","amount":59.00,"created_at":"2025-03-02T08:00:11Z","took_ms":31,"log":"2025-03-02T08:00:11Z accepted by worker 7 (pid 4000)","customer":{"name":"Ann Berg","tier":"gold"}}`

func BenchmarkCanonical(b *testing.B) {
	bench(b, callArguments, func(dst []byte, s string) []byte { dst, _ = Canonical(dst, s); return dst })
}

func BenchmarkAppendArguments(b *testing.B) {
	bench(b, callArguments, func(dst []byte, s string) []byte { dst, _ = AppendArguments(dst, s, 1); return dst })
}

func BenchmarkAppendResult(b *testing.B) {
	bench(b, callResult, func(dst []byte, s string) []byte { dst, _ = AppendResult(dst, s); return dst })
}

func BenchmarkLookup(b *testing.B) {
	bench(b, callArguments, func(dst []byte, s string) []byte { Lookup(s, "currency"); return dst })
}

func BenchmarkMessages(b *testing.B) {
	text := realMessages(b)
	bench(b, text, func(dst []byte, s string) []byte { return readMessages(s, dst) })
}

func BenchmarkMessagesExact(b *testing.B) {
	text := realMessages(b)
	bench(b, text, func(dst []byte, s string) []byte { dst, _ = AppendExact(dst, s); return dst })
}

func BenchmarkIsPlaceholder(b *testing.B) {
	text := realMessages(b)
	bench(b, text, func(dst []byte, s string) []byte { IsPlaceholder(s); return dst })
}

func BenchmarkResultText(b *testing.B) {
	text := realMessages(b)
	bench(b, text, AppendResultText)
}

func bench(b *testing.B, text string, f func([]byte, string) []byte) {
	b.Helper()
	buf := make([]byte, 0, 2*len(text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		buf = f(buf[:0], text)
	}
}

// realMessages returns the longest model input of the real runs in ../shared.
func realMessages(tb testing.TB) string {
	tb.Helper()
	longest := ""
	for _, text := range realTexts(tb) {
		if len(text) > len(longest) && strings.HasPrefix(text, "[") {
			longest = text
		}
	}
	return longest
}

// realTexts returns the attribute values of the first real runs in ../shared.
func realTexts(tb testing.TB) []string {
	tb.Helper()
	file, err := os.Open("../../../shared/real/tau-bench-airline-0-99.otlp.jsonl.gz")
	if err != nil {
		tb.Skip("no real runs beside this checkout:", err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	var texts []string
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 64<<20)
	for len(texts) < 2000 && lines.Scan() {
		texts = appendStrings(texts, lines.Text())
	}
	return texts
}

func appendStrings(texts []string, line string) []string {
	var export struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					Attributes []struct {
						Value struct{ StringValue string }
					}
				}
			}
		}
	}
	if json.Unmarshal([]byte(line), &export) != nil {
		return texts
	}
	for _, r := range export.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				for _, a := range span.Attributes {
					texts = append(texts, a.Value.StringValue)
				}
			}
		}
	}
	return texts
}
