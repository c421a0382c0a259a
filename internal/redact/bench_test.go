package redact

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkRealRuns redacts the attribute values of the real runs in ../shared.
func BenchmarkRealRuns(b *testing.B) {
	texts := realTexts(b)
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	tenant := newTenant(b, nil)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		for _, text := range texts {
			if _, err := tenant.Text(text); err != nil {
				b.Fatal(err)
			}
		}
	}
	// Of the process, so that other work on the machine does not count.
	b.ReportMetric(float64(size)*float64(b.N)/1e6/(cpuTime(b)-before).Seconds(), "MB/cpu-s")
	b.ReportMetric(float64(len(texts)), "values/op")
}

// BenchmarkCleanArguments redacts the arguments of one call.
func BenchmarkCleanArguments(b *testing.B) {
	const text = `{"order_id":"7731","amount":59.00,"currency":"EUR","reason":"item arrived damaged","lines":[{"sku":"A-1","qty":2}]}`
	benchText(b, text)
}

// BenchmarkDirtyArguments is the same with two addresses.
func BenchmarkDirtyArguments(b *testing.B) {
	const text = `{"order_id":"7731","to":"ann@example.com","cc":"bob@example.com","reason":"item arrived damaged","lines":[{"sku":"A-1","qty":2}]}`
	benchText(b, text)
}

func cpuTime(b testing.TB) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func benchText(b *testing.B, text string) {
	b.Helper()
	tenant := newTenant(b, nil)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tenant.Text(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	tenant := newTenant(b, nil)
	for name, size := range map[string]int{"200B": 200, "4KB": 4096} {
		b.Run(name, func(b *testing.B) {
			text := []byte(strings.Repeat("x", size))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				tenant.Hash(DomainArguments, text)
			}
		})
	}
}

// realTexts returns the attribute values of the real runs, 16 MB at most.
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
	type export struct {
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
	var texts []string
	size := 0
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 64<<20)
	for size < 16<<20 && lines.Scan() {
		var e export
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			tb.Fatal(err)
		}
		for _, r := range e.ResourceSpans {
			for _, s := range r.ScopeSpans {
				for _, span := range s.Spans {
					for _, a := range span.Attributes {
						if a.Value.StringValue != "" {
							texts = append(texts, a.Value.StringValue)
							size += len(a.Value.StringValue)
						}
					}
				}
			}
		}
	}
	return texts
}
