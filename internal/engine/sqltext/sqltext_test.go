package sqltext

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name string
		text string
		want Statement
	}{
		{"a select", "SELECT 1", Statement{Kind: Select, Text: "SELECT 1"}},
		{"a closing semicolon is cut off", "SELECT 1 ;\n -- done", Statement{Kind: Select, Text: "SELECT 1 "}},
		{"several closing semicolons are cut off", "SELECT 1;;", Statement{Kind: Select, Text: "SELECT 1"}},
		{"a select in brackets", "(SELECT 1) UNION ALL (SELECT 2)", Statement{Kind: Select, Text: "(SELECT 1) UNION ALL (SELECT 2)"}},
		{"a select behind a comment", "/* a /* b */ ; */ # c;\nselect 1", Statement{Kind: Select, Text: "/* a /* b */ ; */ # c;\nselect 1"}},
		{"a select with a format", "SELECT 1 FORMAT JSON", Statement{Kind: Select, Text: "SELECT 1 FORMAT JSON", Format: "JSON"}},
		{
			"a select with a format and settings", "SELECT 1 FORMAT TSV SETTINGS max_threads=1",
			Statement{Kind: Select, Text: "SELECT 1 FORMAT TSV SETTINGS max_threads=1", Format: "TSV"},
		},
		{"a column named format is no format", "SELECT format FROM t WHERE x", Statement{Kind: Select, Text: "SELECT format FROM t WHERE x"}},
		{"a column alias named format is no format", "SELECT t.format x FROM t", Statement{Kind: Select, Text: "SELECT t.format x FROM t"}},
		{
			"semicolons in quotes are text", `SELECT ';', "a;b", ` + "`c;d`" + `, 'it''s;', 'a\';'`,
			Statement{Kind: Select, Text: `SELECT ';', "a;b", ` + "`c;d`" + `, 'it''s;', 'a\';'`},
		},
		{"a WITH that selects", "WITH 1 AS x SELECT x", Statement{Kind: Select, Text: "WITH 1 AS x SELECT x"}},
		{"a WITH that inserts is not streamed", "WITH 1 AS x INSERT INTO t SELECT x", Statement{Kind: Other, Text: "WITH 1 AS x INSERT INTO t SELECT x"}},
		{"parameters", "SELECT {a:Map(String, Array(String))}", Statement{Kind: Select, Text: "SELECT {a:Map(String, Array(String))}"}},
		{"a create", "CREATE TABLE t (a String) ENGINE = MergeTree ORDER BY a", Statement{Text: "CREATE TABLE t (a String) ENGINE = MergeTree ORDER BY a"}},
		{"a show with a format", "SHOW TABLES FORMAT JSON", Statement{Text: "SHOW TABLES FORMAT JSON", Format: "JSON"}},
		{"a kill", "KILL QUERY WHERE query_id = 'SYNC' ASYNC", Statement{Text: "KILL QUERY WHERE query_id = 'SYNC' ASYNC"}},
		{"a grant of insert", "GRANT INSERT ON t TO x", Statement{Text: "GRANT INSERT ON t TO x"}},
		{"an insert without data", "INSERT INTO t (a, `b;`) FORMAT Native", Statement{Kind: InsertData, Text: "INSERT INTO t (a, `b;`) ", Format: "Native"}},
		{"an insert with a semicolon for data", "INSERT INTO t FORMAT TSV ;\n", Statement{Kind: InsertData, Text: "INSERT INTO t ", Format: "TSV"}},
		{
			"an insert with settings", "INSERT INTO t SETTINGS async_insert = 1 FORMAT TSV",
			Statement{Kind: InsertData, Text: "INSERT INTO t SETTINGS async_insert = 1 ", Format: "TSV"},
		},
		{"an insert of no stated format", "INSERT INTO t (a)", Statement{Kind: InsertData, Text: "INSERT INTO t (a)"}},
		{"an insert of values that follow", "INSERT INTO t (a) VALUES", Statement{Kind: InsertData, Text: "INSERT INTO t (a) VALUES", Format: "Values"}},
		{
			"data behind the format is cut off, blank lines and all", "INSERT INTO t FORMAT TSV\na\n\nDROP TABLE t; SELECT 'x",
			Statement{Kind: InsertData, Text: "INSERT INTO t ", Format: "TSV", Data: "a\n\nDROP TABLE t; SELECT 'x"},
		},
		{
			"data on the line of the format", "INSERT INTO t FORMAT JSONEachRow {\"a\": 1}",
			Statement{Kind: InsertData, Text: "INSERT INTO t ", Format: "JSONEachRow", Data: `{"a": 1}`},
		},
		{
			"values are text", "INSERT INTO t (a) VALUES (1, 'a\n\nDROP TABLE t'), (now(), {x:String}) ;",
			Statement{Text: "INSERT INTO t (a) VALUES (1, 'a\n\nDROP TABLE t'), (now(), {x:String}) "},
		},
		{"an insert from a select", "INSERT INTO t SELECT * FROM u", Statement{Text: "INSERT INTO t SELECT * FROM u"}},
		{"an insert from a select in brackets", "INSERT INTO t (a) (SELECT 1)", Statement{Text: "INSERT INTO t (a) (SELECT 1)"}},
		{"a table named like a keyword behind a dot", "INSERT INTO db.format FORMAT TSV", Statement{Kind: InsertData, Text: "INSERT INTO db.format ", Format: "TSV"}},
		{
			"a function whose name only begins like file", "SELECT filesystemAvailable(), URLHash('x')",
			Statement{Kind: Select, Text: "SELECT filesystemAvailable(), URLHash('x')"},
		},
		{"a qualified table named file", "INSERT INTO db.file (a) VALUES (1)", Statement{Text: "INSERT INTO db.file (a) VALUES (1)"}},
		{"a column named url", "SELECT url, `file` FROM t", Statement{Kind: Select, Text: "SELECT url, `file` FROM t"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(tt.text)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name string
		text string
		code int
	}{
		{"nothing", " ", CodeSyntax},
		{"only a comment", "-- SELECT 1", CodeSyntax},
		{"only a semicolon and then a statement", "; SELECT 1", CodeSyntax},
		{"two selects", "SELECT 1; SELECT 2", CodeSyntax},
		{"a statement behind a comment", "SELECT 1; /* */ DROP TABLE t", CodeSyntax},
		{"a statement behind an escaped quote", `SELECT 'a\\'; DROP TABLE t`, CodeSyntax},
		{"a statement behind an insert of no stated format", "INSERT INTO t; DROP TABLE t", CodeSyntax},
		{"a statement behind values", "INSERT INTO t VALUES (1); DROP TABLE t", CodeSyntax},
		{"a statement behind values and a blank line", "INSERT INTO t VALUES (1)\n\nDROP TABLE t", CodeSyntax},
		{"a statement behind an insert from a select", "INSERT INTO t SELECT 1; DROP TABLE t", CodeSyntax},
		{"an open quote", "SELECT 'a", CodeSyntax},
		{"an open comment", "SELECT 1 /* /* */", CodeSyntax},
		{"an open bracket", "SELECT (1", CodeSyntax},
		{"a bracket that was not opened", "SELECT 1)", CodeSyntax},
		{"an open bracket before a semicolon", "SELECT (1; SELECT 2", CodeSyntax},
		{"a no-break space outside quotes", "\u00a0INSERT INTO t FORMAT TSV\na\n\nSELECT 1", CodeSyntax},
		{"curly quotes", "SELECT ‘a’", CodeSyntax},
		{"a heredoc", "SELECT $x$ ; $x$", CodeSyntax},
		{"the vertical delimiter", `SELECT 1 \G SELECT 2`, CodeSyntax},
		{"a NUL outside quotes", "SELECT 1\x00; SELECT 2", CodeSyntax},
		{"a format without a name", "INSERT INTO t FORMAT ;", CodeSyntax},
		{"data for an insert from a select", "INSERT INTO t SELECT * FROM input('a String') FORMAT TSV\na", CodeUnsupported},
		{"data for an insert from a select in brackets", "INSERT INTO t (SELECT * FROM input('a String')) FORMAT TSV\na", CodeUnsupported},
		{"data behind WITH", "WITH 1 AS x INSERT INTO t FORMAT TSV\na\n\nDROP TABLE t", CodeUnsupported},
		{"values behind WITH", "WITH 1 AS x INSERT INTO t VALUES (1)\n\nDROP TABLE t", CodeUnsupported},
		{"data behind EXPLAIN", "EXPLAIN INSERT INTO t FORMAT TSV\na\n\nDROP TABLE t", CodeUnsupported},
		{"data behind PARALLEL WITH", "CREATE TABLE t (a Int8) PARALLEL WITH INSERT INTO t FORMAT TSV\n1\n\nDROP TABLE t", CodeUnsupported},
		{"a result into a file", "SELECT 1 INTO OUTFILE '/tmp/x'", CodeOutfile},
		{"a result into a file, disguised", "SELECT 1 into/**/outfile '/tmp/x'", CodeOutfile},
		{"data from a file", "INSERT INTO t FROM INFILE '/etc/passwd' FORMAT TSV", CodeAccessDenied},
		{"a file as a table", "SELECT * FROM file('/etc/passwd')", CodeAccessDenied},
		{"a file as a table, disguised", "SELECT * FROM `FILE` -- x\n ('/etc/passwd')", CodeAccessDenied},
		{"a file as a value", "SELECT file('/etc/passwd')", CodeAccessDenied},
		{"a file as an engine", "CREATE TABLE t (a String) ENGINE = File(TSV, '/tmp/x')", CodeAccessDenied},
		{"a file as a dictionary", "CREATE DICTIONARY d (a String) PRIMARY KEY a SOURCE(FILE(PATH '/etc/passwd' FORMAT 'TSV'))", CodeAccessDenied},
		{"an insert into a file", "INSERT INTO FUNCTION file('/tmp/x') SELECT 1", CodeAccessDenied},
		{"an address as a table", "SELECT * FROM url('http://example.com')", CodeAccessDenied},
		{"a program as a table", "SELECT * FROM executable('x.sh', TSV, 'a String')", CodeAccessDenied},
		{"a path as a table", "SELECT * FROM `/etc/passwd`", CodeAccessDenied},
		{"a relative path as a table", `SELECT * FROM "../x"`, CodeAccessDenied},
		{"a kill that waits", "KILL QUERY WHERE 1 SYNC", CodeUnsupported},
		{"a kill that waits, disguised", "KILL/**/QUERY WHERE 1/**/sync", CodeUnsupported},
		{"a shutdown", "SYSTEM/**/SHUTDOWN", CodeAccessDenied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(tt.text)
			e, ok := errors.AsType[*Error](err)
			require.True(t, ok, "want an *Error, got %v", err)
			assert.Equal(t, tt.code, e.Code, e.Message)
		})
	}
}

// FuzzParse: no text panics; what is passed on was in the text; data of an
// INSERT is never part of the statement that the engine parses.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"SELECT 1", "INSERT INTO t FORMAT TSV\na\n\nSELECT 1", "INSERT INTO t VALUES (1), ('a')", "WITH x AS (SELECT 1) SELECT * FROM x",
		"/* /* */ */ SELECT ';' # x", "SELECT {a:String} FORMAT JSON SETTINGS a=1;", "INSERT INTO t (a) SELECT 1", "\\", "`", "((((",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("want an *Error, got %T", err)
			}
			return
		}
		if !strings.HasPrefix(text, s.Text) || !strings.HasSuffix(text, s.Data) || len(s.Text)+len(s.Data) > len(text) {
			t.Fatalf("not parts of %q: %+v", text, s)
		}
		if s.Kind != InsertData && s.Data != "" {
			t.Fatalf("data without an insert: %+v", s)
		}
		again, err := Parse(s.Text)
		if s.Kind != InsertData && (err != nil || again.Kind != s.Kind) {
			t.Fatalf("%q reads as %+v, and again as %+v, %v", text, s, again, err)
		}
	})
}
