package chhttp

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/steptrail/steptrail/internal/engine/chdb"
	"github.com/steptrail/steptrail/internal/engine/sqltext"
)

// streamable are the formats in which several documents in a row read as one.
var streamable = []string{
	"native", "rowbinary", "tabseparated", "tsv", "tabseparatedraw", "tsvraw", "csv", "jsoneachrow", "jsonlines", "ndjson",
	"jsoncompacteachrow", "lineasstring", "rawblob",
}

// run executes the statement and sends what it answers.
func (s *Server) run(conn *chdb.Conn, req *request, reply *reply) error {
	format := req.format
	if req.statement.Format != "" {
		format = req.statement.Format
	}
	switch {
	case req.statement.Kind == sqltext.InsertData:
		return s.insert(conn, req, reply)
	case req.statement.Kind == sqltext.Select && slices.Contains(streamable, strings.ToLower(format)):
		return stream(conn, req, reply)
	}
	result, err := conn.Query(req.statement.Text, req.format, req.params...)
	if err != nil {
		return err
	}
	defer result.Close()
	reply.stats(result.Stats())
	return reply.write(result.Data())
}

// stream sends the result of a SELECT chunk by chunk. The first chunk is
// fetched before the status is sent, since most errors come with it.
func stream(conn *chdb.Conn, req *request, reply *reply) error {
	stream, err := conn.Stream(req.statement.Text, req.format, req.params...)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		chunk, err := stream.Next()
		if chunk == nil || err != nil {
			return err
		}
		err = reply.write(chunk.Data())
		chunk.Close()
		if err != nil {
			return err
		}
	}
}

// insertPiece is how much of an INSERT's data is handed over at a time.
const insertPiece = 1 << 20

var pieces = sync.Pool{New: func() any { return new([insertPiece]byte) }}

// insert stores the data of an INSERT. It never becomes part of a statement's
// text: there the engine would run it as SQL from the first blank line on.
func (s *Server) insert(conn *chdb.Conn, req *request, reply *reply) error {
	format := req.statement.Format
	if format == "" {
		format = "Values"
	}
	insert := spool
	if s.cfg.Library.StreamsInserts() {
		insert = appendAll
	}
	stats, err := insert(conn, req, format)
	if err != nil {
		return err
	}
	reply.stats(stats)
	return reply.write(nil)
}

// appendAll feeds the data to an insert stream. An INSERT whose data breaks off
// is cancelled: a half body never counts as a whole one.
func appendAll(conn *chdb.Conn, req *request, format string) (chdb.Stats, error) {
	insert, err := conn.Insert(req.statement.Text, format, req.params...)
	if err != nil {
		return chdb.Stats{}, err
	}
	defer insert.Close()
	piece := pieces.Get().(*[insertPiece]byte)
	defer pieces.Put(piece)
	for {
		n, err := fill(req.data, piece[:])
		if appendErr := insert.Append(piece[:n]); appendErr != nil {
			return chdb.Stats{}, appendErr
		}
		switch {
		case errors.Is(err, io.EOF):
			return insert.Done()
		case err != nil:
			return chdb.Stats{}, bodyError(err)
		}
	}
}

// fill reads until p is full or r fails. Unlike io.ReadFull it tells an end of
// r from data that breaks off.
func fill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	return n, err
}
