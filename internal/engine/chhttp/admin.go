package chhttp

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/steptrail/steptrail/internal/engine/chdb"
)

// admin is the connection that stays: it keeps the data directory open, and it
// is there to end what runs on the others.
type admin struct {
	mu   sync.Mutex // one statement at a time
	conn *chdb.Conn
}

func newAdmin(conn *chdb.Conn) *admin { return &admin{conn: conn} }

func (a *admin) query(sql string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	result, err := a.conn.Query(sql, "TabSeparated")
	if err != nil {
		return "", err
	}
	defer result.Close()
	return strings.TrimSuffix(string(result.Data()), "\n"), nil
}

func (a *admin) ping() error {
	_, err := a.query("SELECT 1")
	return err
}

// serverHello is what clickhouse-go asks of a server first.
type serverHello struct{ version, timezone string }

func (a *admin) hello() (serverHello, error) {
	text, err := a.query("SELECT version(), timezone()")
	if err != nil {
		return serverHello{}, fmt.Errorf("ask the engine for its version: %w", err)
	}
	version, timezone, _ := strings.Cut(text, "\t")
	return serverHello{version: version, timezone: timezone}, nil
}

func (a *admin) settingNames() (map[string]bool, error) {
	text, err := a.query("SELECT name FROM system.settings")
	if err != nil {
		return nil, fmt.Errorf("ask the engine for its settings: %w", err)
	}
	names := map[string]bool{}
	for name := range strings.SplitSeq(text, "\n") {
		if namePattern.MatchString(name) {
			names[name] = true
		}
	}
	return names, nil
}

// tagPrefix begins the log_comment of each statement that came in a request.
const tagPrefix = "steptrail-"

// newTag names one statement. The library gives no query id to choose, so the
// setting log_comment says which entry of system.processes is ours.
func newTag() string { return tagPrefix + rand.Text() }

// killEvery is how often a KILL is repeated: one that comes before the
// statement has started hits nothing.
const killEvery = 100 * time.Millisecond

// killOnDone ends the tagged statement when ctx ends before stop is called. KILL
// must be ASYNC: the other form waits for an entry that a finished statement
// keeps as long as its connection is open.
func (a *admin) killOnDone(ctx context.Context, tag string) (stop func()) {
	finished := make(chan struct{})
	detach := context.AfterFunc(ctx, func() { // ends when stop is called
		for {
			a.kill("= " + quote(tag))
			select {
			case <-finished:
				return
			case <-time.After(killEvery):
			}
		}
	})
	return func() {
		detach()
		close(finished)
	}
}

// killAll ends every statement that came in a request.
func (a *admin) killAll() { a.kill("LIKE " + quote(tagPrefix+"%")) }

// kill ignores errors: there is nobody to tell, and it is repeated.
func (a *admin) kill(condition string) {
	_, _ = a.query("KILL QUERY WHERE Settings['log_comment'] " + condition + " ASYNC")
}

func (a *admin) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.conn.Close()
}
