package store

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/steptrail/steptrail/internal/agent"
)

// mute gives a store on a server that takes connections and says nothing, and what
// is told of each connection.
func mute(t *testing.T) (*Store, <-chan net.Conn) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	taken := make(chan net.Conn, 8)
	go func() { // ends when the listener is closed
		defer close(taken)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			taken <- c
		}
	}()
	s, err := Open(t.Context(), &clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{l.Addr().String()}}, Config{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, l.Close())
		for c := range taken {
			require.NoError(t, c.Close())
		}
	})
	return s, taken
}

func TestWhatIsKnownToBeErasedIsToldWhileTheStoreSaysNothing(t *testing.T) {
	s, taken := mute(t)
	s.erased.note("acme", []string{"run-1"}, false)
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() { // ends with ctx
		_, err := s.ErasedGeneration(ctx)
		asked <- err
	}()
	conn := <-taken
	defer func() { require.NoError(t, conn.Close()) }()

	known := make(chan map[agent.UnitID]bool, 1)
	go func() { known <- s.erased.known() }() // ends with ctx at the latest
	select {
	case units := <-known:
		require.Equal(t, map[agent.UnitID]bool{{Tenant: "acme", Unit: "run-1"}: false}, units)
	case <-time.After(time.Minute):
		t.Error("it waits for the store")
	}

	other, stop := context.WithCancel(t.Context())
	stop()
	_, err := s.ErasedGeneration(other)
	require.ErrorIs(t, err, context.Canceled, "who waits for the one that asks does so no longer than it may")
	cancel()
	require.ErrorIs(t, <-asked, context.Canceled)
}

func TestUnitsThatAHoldKeepsAreErasedOnlyOnceItEnds(t *testing.T) {
	one, two := agent.UnitID{Tenant: "acme", Unit: "1"}, agent.UnitID{Tenant: "acme", Unit: "2"}
	e := newErasedUnits()
	set := func(ids ...agent.UnitID) map[agent.UnitID]bool {
		out := map[agent.UnitID]bool{}
		for _, id := range ids {
			out[id] = true
		}
		return out
	}
	now := time.Now()
	require.Empty(t, e.update(nil, nil, now))
	require.Zero(t, e.generation())
	first := e.update(set(one, two), set(two), now)
	require.Equal(t, set(one), first)
	require.Equal(t, 1, e.generation())
	require.Equal(t, first, e.update(set(one), set(two), now))
	require.Equal(t, 1, e.generation(), "read again, and the same")
	require.Equal(t, set(one, two), e.update(set(one), nil, now))
	require.Equal(t, 2, e.generation(), "it tells that another unit is erased now")
	require.Equal(t, set(one), first, "what was given does not change")
	require.Equal(t, set(one), e.update(nil, set(two), now), "a hold that came later")
	e.note("acme", []string{"2"}, true)
	require.Equal(t, set(one, two), e.known())
	require.Equal(t, set(one), e.update(nil, set(two), now), "the store knows better")

	require.Equal(t, map[agent.UnitID]bool{one: true}, e.update(map[agent.UnitID]bool{one: false}, set(two), now), "full stays full")
}
