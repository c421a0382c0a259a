package sqltext

import "strings"

// outside names, in lower case, the table functions, table engines, scalar
// functions and dictionary sources that reach for files, programs or other
// machines. A server bounds them by user_files_path and grants; the library
// has neither.
var outside = nameSet(`
	arrowflight azureblobstorage azureblobstoragecluster azurequeue cassandra cosn deltalake deltalakeazure
	deltalakecluster deltalakelocal deltalakes3 disk executable executablepool file filecluster filelog gcs hdfs
	hdfscluster http hudi hudicluster iceberg icebergazure icebergcluster iceberghdfs iceberglocal icebergs3 jdbc kafka
	library materializedpostgresql mongo mongodb mysql nats odbc oss paimon paimonazure paimonhdfs paimonlocal paimons3
	postgresql python rabbitmq redis remote remotesecure s3 s3cluster s3queue sqlite url urlcluster ytsaurus`)

func nameSet(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

func reachesOut(function string) bool { return outside[strings.ToLower(function)] }

// checkName refuses a quoted name that is a path: the database "default" of the
// library opens such a table as a file.
func checkName(name string) error {
	for _, prefix := range []string{"/", "./", "../", "~"} {
		if strings.HasPrefix(name, prefix) {
			return &Error{Code: CodeAccessDenied, Message: "Not enough privileges: a table name must not be a path"}
		}
	}
	return nil
}

// other reads a statement that neither selects nor inserts, and refuses those
// that would stop the engine, or never end: a synchronous KILL waits for entries
// of system.processes that leave only with the next statement of their
// connection.
func (p *parser) other() (Statement, error) {
	kill, system := p.keyword("KILL"), p.keyword("SYSTEM")
	format, end, err := p.rest(func() error {
		switch {
		case kill && p.depth == 0 && p.keyword("SYNC"):
			return &Error{Code: CodeUnsupported, Message: "KILL … SYNC never returns on the embedded engine: use ASYNC"}
		case system && p.keyword("SHUTDOWN", "KILL"):
			return &Error{Code: CodeAccessDenied, Message: "Not enough privileges: the engine is stopped by its parent"}
		}
		return nil
	})
	if err != nil {
		return Statement{}, err
	}
	return Statement{Kind: Other, Text: p.text[:end], Format: format}, nil
}
