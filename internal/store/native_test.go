package store

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/store/column"
)

// fakeServer speaks as much of the native protocol as shows what the transport
// sends: it greets, answers pings, and takes statements without a result.
type fakeServer struct {
	net.Listener
	done sync.WaitGroup

	mu      sync.Mutex
	hello   []proto.ClientHello
	queries []proto.Query
	rows    []int // of the blocks that came
	open    []net.Conn
}

func newFakeServer(t *testing.T, cfg *tls.Config) *fakeServer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if cfg != nil {
		ln = tls.NewListener(ln, cfg)
	}
	f := &fakeServer{Listener: ln}
	f.done.Go(func() { // ended by stop
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.open = append(f.open, conn)
			f.mu.Unlock()
			f.done.Go(func() { _ = f.serve(conn) })
		}
	})
	t.Cleanup(f.stop)
	return f
}

func (f *fakeServer) address() string { return f.Addr().String() }

func (f *fakeServer) stop() {
	_ = f.Close()
	f.mu.Lock()
	for _, c := range f.open {
		_ = c.Close()
	}
	f.mu.Unlock()
	f.done.Wait()
}

func (f *fakeServer) serve(conn net.Conn) error {
	defer func() { _ = conn.Close() }()
	r := proto.NewReader(conn)
	version := 0
	for {
		code, err := r.UVarInt()
		if err != nil {
			return err
		}
		var out proto.Buffer
		switch proto.ClientCode(code) { //nolint:exhaustive // what a client sends that only asks and inserts
		case proto.ClientCodeHello:
			var hello proto.ClientHello
			if err := hello.Decode(r); err != nil {
				return err
			}
			version = hello.ProtocolVersion
			f.mu.Lock()
			f.hello = append(f.hello, hello)
			f.mu.Unlock()
			(&proto.ServerHello{Name: "fake", Revision: proto.Version}).EncodeAware(&out, version)
		case proto.ClientCodePing:
			proto.ServerCodePong.Encode(&out)
		case proto.ClientCodeQuery:
			var q proto.Query
			if err := q.DecodeAware(r, version); err != nil {
				return err
			}
			f.mu.Lock()
			f.queries = append(f.queries, q)
			f.mu.Unlock()
			continue
		case proto.ClientCodeData:
			rows, err := readBlock(r, version)
			if err != nil {
				return err
			}
			f.mu.Lock()
			f.rows = append(f.rows, rows)
			asked := len(f.rows) == 1 && strings.HasPrefix(f.queries[len(f.queries)-1].Body, "INSERT")
			f.mu.Unlock()
			switch {
			case asked: // the client waits for the types of the columns
				proto.ServerCodeData.Encode(&out)
				out.PutString("")
				header := []proto.InputColumn{{Name: "n", Data: new(proto.ColInt64)}}
				if err := (proto.Block{Columns: 1}).EncodeBlock(&out, version, header); err != nil {
					return err
				}
			case rows > 0: // an empty block is the end
				continue
			default:
				proto.ServerCodeEndOfStream.Encode(&out)
			}
		default:
			return io.ErrUnexpectedEOF
		}
		if _, err := conn.Write(out.Buf); err != nil {
			return err
		}
		if proto.ClientCode(code) == proto.ClientCodeHello {
			if _, err := r.Str(); err != nil { // the client's addendum
				return err
			}
		}
	}
}

func readBlock(r *proto.Reader, version int) (int, error) {
	var data proto.ClientData
	if err := data.DecodeAware(r, version); err != nil {
		return 0, err
	}
	var block proto.Block
	var results proto.Results
	err := block.DecodeBlock(r, version, results.Auto())
	return block.Rows, err
}

// down is an address that nobody listens on, and that nobody else is given: its port is bound and does not listen.
func down(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Close(fd)) })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	name, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
}

func nativeTo(t *testing.T, cluster string, opts clickhouse.Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), &opts, Config{Cluster: cluster})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func ask(t *testing.T, s *Store) error {
	t.Helper()
	return s.wire.query(t.Context(), "SELECT {name:String}", params{}.text("name", "it's"), &column.Set{}, func() error { return nil })
}

func TestAStatementGoesToTheFirstHostThatAnswers(t *testing.T) {
	f := newFakeServer(t, nil)
	s := nativeTo(t, "", clickhouse.Options{
		Addr: []string{down(t), f.address()},
		Auth: clickhouse.Auth{Username: "ingest", Password: "hunter2"},
	})
	require.NoError(t, ask(t, s))
	require.Equal(t, "ingest", f.hello[0].User)
	require.Equal(t, "hunter2", f.hello[0].Password)
	require.Equal(t, DefaultDatabase, f.hello[0].Database)
	require.Equal(t, "SELECT {name:String}", f.queries[0].Body)
}

func TestHostsAreTakenInTurn(t *testing.T) {
	a, b := newFakeServer(t, nil), newFakeServer(t, nil)
	wire, err := newNativeTransport(&clickhouse.Options{Addr: []string{a.address(), b.address()}, ConnOpenStrategy: clickhouse.ConnOpenRoundRobin})
	require.NoError(t, err)
	for range 4 {
		c, err := wire.dial(t.Context())
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	require.Len(t, a.hello, 2)
	require.Len(t, b.hello, 2)
}

func TestTheErrorNamesEveryHostAndNoPassword(t *testing.T) {
	hosts := []string{down(t), down(t)}
	for _, protocol := range []clickhouse.Protocol{clickhouse.Native, clickhouse.HTTP} {
		s := nativeTo(t, "", clickhouse.Options{Addr: hosts, Protocol: protocol, Auth: clickhouse.Auth{Username: "ingest", Password: "hunter2"}})
		for _, err := range []error{ask(t, s), s.Ping(t.Context()), s.Migrate(t.Context())} {
			require.Error(t, err)
			require.NotContains(t, err.Error(), "hunter2")
		}
		if protocol == clickhouse.Native {
			require.ErrorContains(t, ask(t, s), hosts[0])
			require.ErrorContains(t, ask(t, s), hosts[1])
		}
	}
}

func TestAConnectionThatDiedWhileIdleCostsNoStatement(t *testing.T) {
	first, second := newFakeServer(t, nil), newFakeServer(t, nil)
	s := nativeTo(t, "", clickhouse.Options{Addr: []string{first.address(), second.address()}})
	require.NoError(t, ask(t, s))
	first.stop()
	wire := s.wire.(*nativeTransport)
	c := <-wire.idle
	c.since = c.since.Add(-2 * trustIdle) // as if it had waited
	wire.idle <- c
	require.NoError(t, ask(t, s))
	require.Len(t, second.queries, 1)
}

func TestSettingsOfTheAddressAndOfAClusterGoWithEveryStatement(t *testing.T) {
	f := newFakeServer(t, nil)
	opts := clickhouse.Options{Addr: []string{f.address()}, Settings: clickhouse.Settings{"load_balancing": "random", "insert_quorum": 2}}
	require.NoError(t, ask(t, nativeTo(t, "main", opts)))
	require.NoError(t, ask(t, nativeTo(t, "", opts)))
	require.Equal(t, map[string]string{
		"distributed_foreground_insert": "1", "distributed_product_mode": "global", "prefer_localhost_replica": "0",
		"allow_nondeterministic_mutations": "1",
		"load_balancing":                   "random", "insert_quorum": "2", "max_execution_time": "60",
	}, sent(f.queries[0]))
	require.Equal(t, map[string]string{"load_balancing": "random", "insert_quorum": "2", "max_execution_time": "60"}, sent(f.queries[1]))
	require.Equal(t, clickhouse.Settings{"load_balancing": "random", "insert_quorum": 2}, opts.Settings, "what was given is not changed")
}

func sent(q proto.Query) map[string]string {
	out := map[string]string{}
	for _, s := range q.Settings {
		out[s.Key] = s.Value
	}
	return out
}

func TestAnInsertCarriesItsTokenAndItsRows(t *testing.T) {
	f := newFakeServer(t, nil)
	s := nativeTo(t, "", clickhouse.Options{Addr: []string{f.address()}})
	var set column.Set
	n := column.Add(&set, "n", &column.Int64{})
	n.Append(1)
	n.Append(2)
	require.NoError(t, s.wire.insert(t.Context(), "INSERT INTO t (n)", &set, "token-1"))
	require.Equal(t, "INSERT INTO t (n) VALUES", f.queries[0].Body)
	require.Equal(t, map[string]string{"async_insert": "0", "insert_deduplication_token": "token-1"}, sent(f.queries[0]))
	require.Contains(t, f.rows, 2)
}

func TestTheNativeProtocolIsSpokenOverTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	f := newFakeServer(t, &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12})
	opts := clickhouse.Options{Addr: []string{f.address()}, DialTimeout: 2 * time.Minute, TLS: &tls.Config{MinVersion: tls.VersionTLS12}}
	require.ErrorContains(t, ask(t, nativeTo(t, "", opts)), "certificate", "signed by nobody whom the system trusts")
	opts.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	opts.TLS.RootCAs.AddCert(web.Certificate())
	require.NoError(t, ask(t, nativeTo(t, "", opts)))
}
