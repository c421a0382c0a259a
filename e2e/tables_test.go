package e2e

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// askEngine sends a statement to the embedded engine over its own socket.
func askEngine(t *testing.T, dir, sql string) []byte {
	t.Helper()
	sockets, err := filepath.Glob(filepath.Join(dir, "engine", "run", "*.sock"))
	require.NoError(t, err)
	require.Len(t, sockets, 1)
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", sockets[0])
	}}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://engine/", strings.NewReader(sql))
	require.NoError(t, err)
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s: %s", sql, body)
	return body
}

// tableTexts reads every column of every table back as text, and gives the number
// of rows: parts are compressed, so files alone prove nothing.
func tableTexts(t *testing.T, dir string) (texts map[string][]byte, rows int) {
	t.Helper()
	names := strings.Fields(string(askEngine(t, dir, "SELECT database || '.' || name FROM system.tables WHERE engine LIKE '%MergeTree' FORMAT TSVRaw")))
	require.NotEmpty(t, names)
	texts = map[string][]byte{}
	for _, name := range names {
		texts[name] = askEngine(t, dir, "SELECT * FROM "+name+" FORMAT TSVRaw")
		rows += bytes.Count(texts[name], []byte("\n"))
	}
	return texts, rows
}

// contentTables are those in which what people and models say stands.
const contentTables = "'messages', 'message_facts', 'log_content', 'steps', 'attempts', 'acts', 'findings', 'runs'"

// activeParts gives the folders of the parts of those tables.
func activeParts(t *testing.T, dir string) map[string]bool {
	t.Helper()
	active := map[string]bool{}
	sql := "SELECT path FROM system.parts WHERE active AND rows > 0 AND table IN (" + contentTables + ") FORMAT TSVRaw"
	for path := range strings.FieldsSeq(string(askEngine(t, dir, sql))) {
		require.FileExists(t, filepath.Join(path, "checksums.txt"))
		active[path] = true
	}
	require.NotEmpty(t, active)
	return active
}

// requireGone fails if any of the parts lies on disk and is not in use: replaced,
// but still there.
func requireGone(t *testing.T, dir string, before map[string]bool) {
	t.Helper()
	now := activeParts(t, dir)
	replaced := 0
	for path := range before {
		if now[path] {
			continue
		}
		replaced++
		require.NoDirExists(t, path)
	}
	require.NotZero(t, replaced)
}
