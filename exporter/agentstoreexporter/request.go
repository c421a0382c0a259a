package agentstoreexporter

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.uber.org/zap"

	"github.com/steptrail/steptrail/internal/store"
)

// request is what the queue holds: rows as columns. Its items are spans and
// messages of log records.
type request struct {
	exporter *storeExporter
	batch    *store.Batch
}

var _ xexporterhelper.Request = (*request)(nil)

// ItemsCount implements xexporterhelper.Request.
func (r *request) ItemsCount() int { return r.batch.Len() }

// BytesSize implements xexporterhelper.Request: the size of the columns, which
// is about what an insert sends and the queue on disk takes.
func (r *request) BytesSize() int { return r.batch.Bytes() }

// MergeSplit implements xexporterhelper.Request. It moves items of other into r
// up to maxSize, and what is over into requests of that size.
func (r *request) MergeSplit(_ context.Context, maxSize int, sizer exporterhelper.RequestSizerType, other xexporterhelper.Request) ([]xexporterhelper.Request, error) {
	if maxSize > 0 && sizer != exporterhelper.RequestSizerTypeItems {
		return nil, fmt.Errorf("a batch cannot be split by %s", sizer.String())
	}
	out := []xexporterhelper.Request{r}
	if maxSize > 0 && r.batch.Len() > maxSize {
		out = r.exporter.fill(nil, r.batch, maxSize)
	}
	if other == nil {
		return out, nil
	}
	o, ok := other.(*request)
	if !ok {
		return nil, fmt.Errorf("merge with %T", other)
	}
	return r.exporter.fill(out, o.batch, maxSize), nil
}

// fill appends the items of src to the last of the requests, and to new ones
// once it is full.
func (e *storeExporter) fill(out []xexporterhelper.Request, src *store.Batch, maxSize int) []xexporterhelper.Request {
	for lo, n := 0, src.Len(); lo < n; {
		room := n - lo
		if maxSize > 0 {
			room = 0
			if len(out) > 0 {
				room = maxSize - out[len(out)-1].ItemsCount()
			}
		}
		if len(out) == 0 || room <= 0 {
			out = append(out, e.newRequest())
			continue
		}
		hi := min(n, lo+room)
		out[len(out)-1].(*request).batch.Take(src, lo, hi) //nolint:forcetypeassert // ours
		lo = hi
	}
	return out
}

// encoding is the form of a request in the queue on disk. No context goes with
// it: client metadata never reaches the disk.
type encoding struct{ exporter *storeExporter }

var _ exporterhelper.QueueBatchEncoding[xexporterhelper.Request] = encoding{}

// Marshal implements exporterhelper.QueueBatchEncoding.
func (encoding) Marshal(_ context.Context, req xexporterhelper.Request) ([]byte, error) {
	r, ok := req.(*request)
	if !ok {
		return nil, fmt.Errorf("marshal %T", req)
	}
	return r.batch.AppendTo(make([]byte, 0, r.batch.Bytes()+r.batch.Bytes()/4+8192)), nil
}

// Unmarshal implements exporterhelper.QueueBatchEncoding. The queue drops what
// it cannot read, so that is counted and said.
func (e encoding) Unmarshal(data []byte) (context.Context, xexporterhelper.Request, error) {
	r := e.exporter.newRequest()
	if err := r.batch.Decode(data); err != nil {
		e.exporter.metrics.undecodable.Add(context.Background(), 1)
		e.exporter.logger.Error("a request in the queue on disk cannot be read and is lost", zap.Error(err), zap.Int("bytes", len(data)))
		return context.Background(), r, err
	}
	return context.Background(), r, nil
}
