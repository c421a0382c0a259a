package filestorageextension

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// compacter is what upstream's client offers beside storing: it writes all that
// is stored into a new file, which takes the place of the old one.
type compacter interface {
	Compact(directory string, timeout time.Duration, maxTransactionSize int64) error
}

// metadata are the keys under which exporterhelper keeps where its queue begins
// and ends. They are written over and over, never deleted, and hold no content.
// Any other key is taken for an entry.
var metadata = map[string]bool{"qmv0": true, "ri": true, "wi": true, "di": true}

// client stores what it is given with upstream's client and knows when each
// entry was stored.
type client struct {
	inner storage.Client

	rewriting sync.Mutex // held while the file is written anew or closed

	mu     sync.Mutex
	last   uint64            // number of the newest entry
	stored map[string]uint64 // number of each entry that is in the store
	wanted uint64            // entries up to this number are to be forgotten
	done   uint64            // entries up to this number are in no file any more
	closed bool
}

var (
	_ storage.Client = (*client)(nil)
	_ storage.Walker = (*client)(nil)
)

// newClient takes what is in the store already for one old entry: number 1, as
// are free pages of an earlier process.
func newClient(ctx context.Context, inner storage.Client) (*client, error) {
	if _, ok := inner.(compacter); !ok {
		return nil, fmt.Errorf("BUG: a %T of upstream cannot write its file anew", inner)
	}
	walker, ok := inner.(storage.Walker)
	if !ok {
		return nil, fmt.Errorf("BUG: a %T of upstream cannot say what it holds", inner)
	}
	c := &client{inner: inner, last: 1, stored: map[string]uint64{}}
	err := walker.Walk(ctx, func(key string, _ []byte) ([]*storage.Operation, error) {
		if !metadata[key] {
			c.stored[key] = c.last
		}
		return nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the keys of the store: %w", err)
	}
	return c, nil
}

// Get implements storage.Client.
func (c *client) Get(ctx context.Context, key string) ([]byte, error) { return c.inner.Get(ctx, key) }

// Set implements storage.Client.
func (c *client) Set(ctx context.Context, key string, value []byte) error {
	return c.Batch(ctx, storage.SetOperation(key, value))
}

// Delete implements storage.Client.
func (c *client) Delete(ctx context.Context, key string) error {
	return c.Batch(ctx, storage.DeleteOperation(key))
}

// Batch implements storage.Client.
func (c *client) Batch(ctx context.Context, ops ...*storage.Operation) error {
	number := c.begin(0, ops)
	err := c.inner.Batch(ctx, ops...)
	c.end(number, ops, err)
	return err
}

// Walk implements storage.Walker.
func (c *client) Walk(ctx context.Context, fn storage.WalkFunc) error {
	var all []*storage.Operation
	number := uint64(0)
	err := c.inner.(storage.Walker).Walk(ctx, func(key string, value []byte) ([]*storage.Operation, error) { //nolint:forcetypeassert // newClient has looked
		ops, err := fn(key, value)
		number = c.begin(number, ops)
		all = append(all, ops...)
		return ops, err
	})
	c.end(number, all, err)
	return err
}

// begin numbers the entries that are about to be stored, so that whoever wants
// them forgotten meanwhile waits for them. One that takes the place of another
// keeps the older number until it has: the other one is still there. Operations
// that are one transaction get one number, 0 before the first of them.
func (c *client) begin(number uint64, ops []*storage.Operation) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range ops {
		if op.Type != storage.Set || metadata[op.Key] {
			continue
		}
		if number == 0 {
			c.last++
			number = c.last
		}
		if _, there := c.stored[op.Key]; !there {
			c.stored[op.Key] = number
		}
	}
	return number
}

// end notes what came of the operations: entries that are there, that are no
// longer there, or, after an error, never came.
func (c *client) end(number uint64, ops []*storage.Operation, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		maps.DeleteFunc(c.stored, func(_ string, n uint64) bool { return n == number })
		return
	}
	decided := map[string]bool{}
	for _, op := range slices.Backward(ops) { // the last of a key decides
		if op.Type == storage.Get || metadata[op.Key] || decided[op.Key] {
			continue
		}
		decided[op.Key] = true
		if op.Type == storage.Set {
			c.stored[op.Key] = number
		} else {
			delete(c.stored, op.Key)
		}
	}
}

// Close implements storage.Client.
func (c *client) Close(ctx context.Context) error {
	c.rewriting.Lock()
	defer c.rewriting.Unlock()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	return c.inner.Close(ctx)
}

// forget wants all forgotten that is stored now or was before, and gives the
// number up to which that is.
func (c *client) forget() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = c.last
	return c.last
}

// forgotten reports whether no entry up to the number is in a file.
func (c *client) forgotten(number uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done >= number
}

func (c *client) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// look writes the file anew if all that is to be forgotten has been taken out.
// pending says that something has not.
func (c *client) look(rewrite func(compacter) error) (wrote, pending bool, err error) {
	c.rewriting.Lock()
	defer c.rewriting.Unlock()
	c.mu.Lock()
	wanted, wants := c.wanted, c.wanted > c.done && !c.closed
	oldest := c.last + 1
	for n := range maps.Values(c.stored) {
		oldest = min(oldest, n)
	}
	c.mu.Unlock()
	if !wants || oldest <= wanted {
		return false, wants, nil
	}
	// What is deleted from here on has a higher number.
	if err := rewrite(c.inner.(compacter)); err != nil { //nolint:forcetypeassert // newClient has looked
		return false, true, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = wanted
	return true, c.wanted > c.done, nil
}
