package chhttp_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// send makes one request without clickhouse-go. The body comes back as far as
// it was sent, with the error that ended it.
func send(t *testing.T, e *enginetest.Engine, method, path string, values url.Values, body string, header http.Header) (*http.Response, string, error) {
	t.Helper()
	options := e.Options()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
		return options.DialContext(ctx, addr)
	}}
	request, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path+"?"+values.Encode(), strings.NewReader(body))
	require.NoError(t, err)
	for name := range header {
		request.Header.Set(name, header.Get(name))
	}
	response, err := transport.RoundTrip(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

func ask(t *testing.T, e *enginetest.Engine, values url.Values, body string) string {
	t.Helper()
	values.Set("database", e.Database)
	response, text, err := send(t, e, http.MethodPost, "/", values, body, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	return text
}

func TestPathsAndMethods(t *testing.T) {
	e := enginetest.Start(t)
	for _, tt := range []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, "/ping", http.StatusOK},
		{http.MethodGet, "/health", http.StatusOK},
		{http.MethodGet, "/", http.StatusMethodNotAllowed},
		{http.MethodPut, "/", http.StatusMethodNotAllowed},
		{http.MethodPost, "/play", http.StatusNotFound},
		{http.MethodPost, "/ping", http.StatusNotFound},
	} {
		response, _, err := send(t, e, tt.method, tt.path, url.Values{"query": {"SELECT 1"}}, "", nil)
		require.NoError(t, err)
		assert.Equal(t, tt.want, response.StatusCode, "%s %s", tt.method, tt.path)
	}
}

func TestFormats(t *testing.T) {
	e := enginetest.Start(t)
	const select2 = "SELECT number FROM numbers(2)"
	assert.Equal(t, "0\n1\n", ask(t, e, url.Values{}, select2), "TSV is the default")
	assert.Equal(t, "0\n1\n", ask(t, e, url.Values{"query": {select2}}, ""))
	assert.Equal(t, "{\"number\":0}\n{\"number\":1}\n", ask(t, e, url.Values{"default_format": {"JSONEachRow"}}, select2))
	assert.Equal(t, "\"number\"\n0\n1\n", ask(t, e, url.Values{"default_format": {"TSV"}}, select2+" FORMAT CSVWithNames"))
	assert.Contains(t, ask(t, e, url.Values{}, select2+" FORMAT JSON"), `"rows": 2`)
	assert.Equal(t, 1, strings.Count(ask(t, e, url.Values{}, "SELECT number FROM numbers(300000) FORMAT CSVWithNames"), "number"),
		"a big result is one document")
	assert.Equal(t, 300_000, strings.Count(ask(t, e, url.Values{}, "SELECT number FROM numbers(300000)"), "\n"))
	assert.Empty(t, ask(t, e, url.Values{}, "SELECT 1 WHERE 0"))
	assert.Equal(t, "1\n", ask(t, e, url.Values{"param_x": {"1"}}, "SELECT {x:UInt8}"))
}

func TestResultsAreCompressedAsAsked(t *testing.T) {
	e := enginetest.Start(t)
	want := ask(t, e, url.Values{}, "SELECT number, repeat('x', 100) FROM numbers(100000)") // 10 MB, several blocks
	for _, method := range []string{"", "LZ4", "zstd"} {
		got := ask(t, e, url.Values{"compress": {"1"}, "network_compression_method": {method}},
			"SELECT number, repeat('x', 100) FROM numbers(100000)")
		assert.Less(t, len(got), len(want)/2)
		r := chproto.NewReader(strings.NewReader(got))
		r.EnableCompression()
		text := make([]byte, len(want))
		require.NoError(t, r.ReadFull(text), method)
		assert.True(t, want == string(text), method) //nolint:testifylint // too long to print
	}
}

func TestBodiesMayBeEncoded(t *testing.T) {
	e := enginetest.Start(t)
	e.Exec("CREATE TABLE t (s String) ENGINE = MergeTree ORDER BY s")
	const row = "a\n\nb"
	data := string(rune(len(row))) + row
	encode := func(w io.WriteCloser, b *bytes.Buffer) string {
		_, err := io.WriteString(w, data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return b.String()
	}
	var zipped, deflated, zstded bytes.Buffer
	zstdWriter, err := zstd.NewWriter(&zstded)
	require.NoError(t, err)
	lz4 := compress.NewWriter(compress.LevelZero, compress.LZ4)
	require.NoError(t, lz4.Compress([]byte(data)))
	for _, tt := range []struct{ encoding, decompress, body string }{
		{"", "", data},
		{"identity", "0", data},
		{"gzip", "", encode(gzip.NewWriter(&zipped), &zipped)},
		{"deflate", "", encode(zlib.NewWriter(&deflated), &deflated)},
		{"zstd", "", encode(zstdWriter, &zstded)},
		{"", "1", string(lz4.Data)},
	} {
		e.Exec("TRUNCATE TABLE t")
		response, text, err := send(t, e, http.MethodPost, "/", url.Values{
			"database": {e.Database}, "query": {"INSERT INTO t FORMAT RowBinary"}, "decompress": {tt.decompress},
		}, tt.body, http.Header{"Content-Encoding": {tt.encoding}})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode, text)
		assert.Contains(t, response.Header.Get("X-ClickHouse-Summary"), `"written_rows":"1"`)
		assert.Equal(t, row, ask(t, e, url.Values{}, "SELECT s FROM t FORMAT RawBLOB"), tt.encoding)
	}
	response, text, err := send(t, e, http.MethodPost, "/", url.Values{}, "SELECT 1", http.Header{"Content-Encoding": {"br"}})
	require.NoError(t, err)
	assert.Equal(t, "48", response.Header.Get("X-ClickHouse-Exception-Code"), text)
}

func TestErrorsReadLikeThoseOfAServer(t *testing.T) {
	e := enginetest.Start(t)
	for body, want := range map[string]string{
		"SELECT * FROM nothing": `^Code: 60\. DB::Exception: .*UNKNOWN_TABLE\).*\(version 26\.[0-9.]+.*\)\n$`,
		"SELECT 1; SELECT 2":    `^Code: 62\. DB::Exception: Syntax error \(Multi-statements are not allowed\).*\(version 26\.[0-9.]+\)\n$`,
	} {
		response, text, err := send(t, e, http.MethodPost, "/", url.Values{"compress": {"1"}, "database": {e.Database}}, body, nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusInternalServerError, response.StatusCode)
		assert.Regexp(t, want, text)
	}
	for _, values := range []url.Values{
		{"session_id": {"x"}},
		{"implicit_select": {"1"}},
		{"query": {"SELECT 1"}}, // and a body
	} {
		response, text, err := send(t, e, http.MethodPost, "/", values, "SELECT 1", nil)
		require.NoError(t, err)
		assert.NotEmpty(t, response.Header.Get("X-ClickHouse-Exception-Code"), text)
	}
	response, text, err := send(t, e, http.MethodPost, "/", url.Values{}, "x", http.Header{"Content-Type": {"multipart/form-data; boundary=x"}})
	require.NoError(t, err)
	assert.Equal(t, "48", response.Header.Get("X-ClickHouse-Exception-Code"), text)
}

// An error behind data: the exception in a frame that cannot be mistaken for
// data, and a connection that breaks, so that no client takes the part for all.
func TestAnErrorBehindDataEndsTheConnection(t *testing.T) {
	e := enginetest.Start(t)
	response, text, err := send(t, e, http.MethodPost, "/", url.Values{},
		"SELECT throwIf(number = 900000, 'late') FROM numbers(1000000) SETTINGS max_block_size = 10000", nil)
	assert.Equal(t, http.StatusOK, response.StatusCode)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	tag := response.Header.Get("X-ClickHouse-Exception-Tag")
	require.Len(t, tag, 16)
	frame := regexp.MustCompile(`\r\n__exception__\r\n` + tag + `\r\nCode: 395\. [^\r]*late[^\r]*\n\d+ ` + tag + `\r\n__exception__\r\n$`)
	assert.Regexp(t, frame, text[max(0, len(text)-1000):])
}
