package e2e

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// ReadArchive reads the files of testdata/NAME.tar.gz.
func ReadArchive(t testing.TB, name string) map[string][]byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // read only
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// Disorder sends the spans of requests in another order and in other requests.
type Disorder struct {
	Seed  uint64 // 0: as they came
	Parts int    // requests that the spans are dealt into; 0: as they came
}

// Apply gives the requests anew.
func (d Disorder) Apply(requests []ptrace.Traces) []ptrace.Traces {
	if d.Parts == 0 {
		return requests
	}
	var single []ptrace.Traces
	for _, td := range requests {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					one := ptrace.NewTraces()
					to := one.ResourceSpans().AppendEmpty()
					rs.Resource().CopyTo(to.Resource())
					scope := to.ScopeSpans().AppendEmpty()
					ss.Scope().CopyTo(scope.Scope())
					span.CopyTo(scope.Spans().AppendEmpty())
					single = append(single, one)
				}
			}
		}
	}
	if d.Seed != 0 {
		r := rand.New(rand.NewPCG(d.Seed, 0)) // not for secrets
		r.Shuffle(len(single), func(i, j int) { single[i], single[j] = single[j], single[i] })
	}
	parts := max(1, min(d.Parts, len(single)))
	out := make([]ptrace.Traces, parts)
	for i := range out {
		out[i] = ptrace.NewTraces()
		for _, one := range single[len(single)*i/parts : len(single)*(i+1)/parts] {
			one.ResourceSpans().MoveAndAppendTo(out[i].ResourceSpans())
		}
	}
	return out
}

// moveTimes moves all times of the spans.
func moveTimes(td ptrace.Traces, by time.Duration) {
	move := func(ts pcommon.Timestamp) pcommon.Timestamp {
		if ts == 0 {
			return 0
		}
		return pcommon.NewTimestampFromTime(ts.AsTime().Add(by))
	}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				span.SetStartTimestamp(move(span.StartTimestamp()))
				span.SetEndTimestamp(move(span.EndTimestamp()))
				for _, ev := range span.Events().All() {
					ev.SetTimestamp(move(ev.Timestamp()))
				}
			}
		}
	}
}

// sharedIDs are ids that several exports have in common because they were
// recorded from one story: runs, calls, threads, keys.
var sharedIDs = regexp.MustCompile(`(call_\d\d[a-f]?[A-Za-z0-9]{0,5}|toolu_\d\w+|thread_\d+|sess_\d+|conv_\w+|chat_\d+|resp_\d+` +
	`|chatcmpl-\d+|fc_\d+|msg_\d+|run_900\d|refund-A-1001|ticket-\d+)\b`)

// ownIDs gives the shared ids of an export a suffix, so that it can be judged
// beside the others.
func ownIDs(text, suffix string) string {
	var b strings.Builder
	from := 0
	for _, at := range sharedIDs.FindAllStringIndex(text, -1) {
		if at[0] > 0 && isWordByte(text[at[0]-1]) && !strings.HasSuffix(text[:at[0]], `\n`) {
			continue
		}
		b.WriteString(text[from:at[1]])
		b.WriteString(suffix)
		from = at[1]
	}
	b.WriteString(text[from:])
	return b.String()
}

func isWordByte(c byte) bool {
	return c == '_' || c|0x20-'a' < 26 || c-'0' < 10
}
