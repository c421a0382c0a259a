package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ClickHouse/ch-go/proto"
)

// The form of a batch on disk: a version, the items, then a block of the Native
// format for each table, an empty one as a single zero. Blocks name their
// columns and types, so that a queue outlives an upgrade that adds some.
//
// batchVersion changes with anything else.
const batchVersion = 1

// maxItems bounds what a damaged queue file may claim.
const maxItems = 1 << 24

var errBatch = errors.New("not a batch of this version")

// AppendTo appends the batch's form on disk to dst.
func (b *Batch) AppendTo(dst []byte) []byte {
	buf := proto.Buffer{Buf: dst}
	buf.Buf = append(buf.Buf, batchVersion)
	buf.PutUVarInt(uint64(len(b.items)))
	var last ends
	for _, e := range b.items {
		for t := range e {
			buf.PutUVarInt(uint64(e[t] - last[t]))
		}
		last = e
	}
	for _, s := range b.sets {
		if s.Rows() == 0 {
			buf.PutUVarInt(0)
			continue
		}
		buf.PutUVarInt(1)
		s.Encode(&buf)
	}
	return buf.Buf
}

// Decode replaces the batch by the one that AppendTo wrote. On an error the
// batch is empty.
func (b *Batch) Decode(data []byte) error {
	b.Reset()
	err := b.decode(data)
	if err != nil {
		b.Reset()
		return fmt.Errorf("decode batch: %w", err)
	}
	return nil
}

func (b *Batch) decode(data []byte) error {
	if len(data) == 0 || data[0] != batchVersion {
		return errBatch
	}
	data, err := b.decodeItems(data[1:])
	if err != nil {
		return fmt.Errorf("items: %w", err)
	}
	r := proto.NewReader(bytes.NewReader(data))
	var last ends
	if n := len(b.items); n > 0 {
		last = b.items[n-1]
	}
	for t, s := range b.sets {
		full, err := binary.ReadUvarint(r)
		if err != nil {
			return fmt.Errorf("%s: %w", tableNames[t], err)
		}
		if full != 0 {
			if err := s.Decode(r); err != nil {
				return fmt.Errorf("%s: %w", tableNames[t], err)
			}
		}
		if s.Rows() != int(last[t]) {
			return fmt.Errorf("%s: %d rows, want %d", tableNames[t], s.Rows(), last[t])
		}
	}
	for _, t := range []tableID{tableMessages, tableFacts, tableKeys} {
		for i := range b.sets[t].Rows() {
			if k, once := b.rowKey(t, i); once {
				b.seen[k] = struct{}{}
			}
		}
	}
	return nil
}

// decodeItems reads the items and gives what follows them.
func (b *Batch) decodeItems(data []byte) ([]byte, error) {
	next := func() (uint64, error) {
		v, n := binary.Uvarint(data)
		if n <= 0 || v > maxItems {
			return 0, errBatch
		}
		data = data[n:]
		return v, nil
	}
	n, err := next()
	if err != nil {
		return nil, err
	}
	var e ends
	for range n {
		for t := range e {
			d, err := next()
			if err != nil {
				return nil, err
			}
			e[t] += uint32(d)
		}
		b.items = append(b.items, e)
	}
	return data, nil
}
