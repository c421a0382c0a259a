package redact

import (
	"regexp"
	"testing"
)

// sixPatterns are those of a stock collector that redacts by patterns, as people
// write them.
var sixPatterns = []*regexp.Regexp{
	regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`),
	regexp.MustCompile(`\b(?:\d[ -]?){13,16}\b`),
	regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}\b`),
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`),
	regexp.MustCompile(`(?:\+\d{1,3}[ .-]?)?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b`),
	regexp.MustCompile(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b`),
}

// BenchmarkSixPatterns replaces what six patterns match in the texts that
// BenchmarkRealRuns redacts, as the redaction processor of the collector's contrib
// does for each value. Of the texts it takes every tenth.
func BenchmarkSixPatterns(b *testing.B) {
	size := 0
	var texts []string
	for n, text := range realTexts(b) {
		if n%10 == 0 {
			texts = append(texts, text)
			size += len(text)
		}
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		for _, text := range texts {
			for _, pattern := range sixPatterns {
				if pattern.MatchString(text) {
					text = pattern.ReplaceAllString(text, "****")
				}
			}
		}
	}
	b.ReportMetric(float64(size)*float64(b.N)/1e6/(cpuTime(b)-before).Seconds(), "MB/cpu-s")
}
