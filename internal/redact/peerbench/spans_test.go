package peerbench

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	// realRuns are those beside the repository.
	realRuns = "../../../../shared/real/tau-bench-airline-0-99.otlp.jsonl.gz"
	// captures stand in where the repository is alone.
	captures = "../../../e2e/testdata/captures.tar.gz"
)

// requests returns the requests that are redacted, and what they are called.
func requests(tb testing.TB) (source string, all []ptrace.Traces) {
	tb.Helper()
	source = "real"
	file, err := os.Open(realRuns)
	if errors.Is(err, os.ErrNotExist) {
		source = "captures"
		file, err = os.Open(captures)
	}
	must(tb, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	must(tb, err)
	read := func(request []byte) {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(request)
		must(tb, err)
		all = append(all, td)
	}
	if source == "real" {
		lines := bufio.NewScanner(unzipped)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			read(lines.Bytes())
		}
		must(tb, lines.Err())
		return source, all
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return source, all
		}
		must(tb, err)
		name := path.Base(header.Name)
		if header.Typeflag != tar.TypeReg || !strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".logs.json") || name == "EXPECTED.json" {
			continue
		}
		request, err := io.ReadAll(archive)
		must(tb, err)
		read(request)
	}
}

// eachText gives all strings of a request for which both processors look: the
// values of attributes.
func eachText(td ptrace.Traces, f func(string)) {
	attributes := func(m pcommon.Map) {
		for _, v := range m.All() {
			if v.Type() == pcommon.ValueTypeStr {
				f(v.Str())
			}
		}
	}
	for _, rs := range td.ResourceSpans().All() {
		attributes(rs.Resource().Attributes())
		for _, ss := range rs.ScopeSpans().All() {
			attributes(ss.Scope().Attributes())
			for _, span := range ss.Spans().All() {
				attributes(span.Attributes())
				for _, event := range span.Events().All() {
					attributes(event.Attributes())
				}
			}
		}
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
