package filestorageextension

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// slow is upstream's client, with something that happens while it stores.
type slow struct {
	storage.Client
	meanwhile func() error
}

func (s *slow) Batch(context.Context, ...*storage.Operation) error { return s.meanwhile() }
func (s *slow) Walk(context.Context, storage.WalkFunc) error       { return nil }
func (s *slow) Compact(string, time.Duration, int64) error         { return nil }
func nothing() error                                               { return nil }
func (c *client) looked(t *testing.T) (wrote, pending bool) {
	t.Helper()
	wrote, pending, err := c.look(func(compacter) error { return nil })
	require.NoError(t, err)
	return wrote, pending
}

func TestAnEntryIsThereUntilAnotherHasTakenItsPlace(t *testing.T) {
	inner := &slow{meanwhile: nothing}
	c, err := newClient(t.Context(), inner)
	require.NoError(t, err)
	require.NoError(t, c.Set(t.Context(), "0", nil))
	first := c.forget()

	inner.meanwhile = func() error {
		wrote, pending := c.looked(t)
		require.False(t, wrote, "what is in the file is the old one")
		require.True(t, pending)
		return errors.New("disk full")
	}
	require.Error(t, c.Set(t.Context(), "0", nil))
	wrote, _ := c.looked(t)
	require.False(t, wrote, "it stays where the new one could not be stored")

	second := uint64(0)
	inner.meanwhile = func() error {
		second = c.forget()
		return nil
	}
	require.NoError(t, c.Set(t.Context(), "0", nil))
	require.Greater(t, second, first)
	wrote, _ = c.looked(t)
	require.False(t, wrote, "the new one was on its way when it was to be forgotten")

	inner.meanwhile = nothing
	require.NoError(t, c.Delete(t.Context(), "0"))
	wrote, pending := c.looked(t)
	require.True(t, wrote)
	require.False(t, pending)
	require.True(t, c.forgotten(first))
	require.True(t, c.forgotten(second))
}
