package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// The content types of OTLP/HTTP.
const (
	JSON     = "application/json"
	Protobuf = "application/x-protobuf"
)

// The paths of OTLP/HTTP.
const (
	TracesPath = "/v1/traces"
	LogsPath   = "/v1/logs"
)

// Request is one OTLP/HTTP request, with a body that may be anything.
type Request struct {
	Path        string // TracesPath, LogsPath
	ContentType string // JSON, Protobuf
	Gzip        bool   // compress the body on the way
	Body        []byte
}

// Post sends a request and returns the status and the body of the answer. An error means that there was no answer:
// whether the data was taken is unknown.
func (in *Instance) Post(ctx context.Context, r Request) (status int, answer []byte, err error) {
	body := r.Body
	if r.Gzip {
		var buf bytes.Buffer
		zip := gzip.NewWriter(&buf)
		if _, err := zip.Write(body); err != nil {
			return 0, nil, err
		}
		if err := zip.Close(); err != nil {
			return 0, nil, err
		}
		body = buf.Bytes()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+in.HTTP+r.Path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", r.ContentType)
	if r.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	return in.do(req)
}

// PostTraces sends traces as protobuf and returns an error unless all of them were acknowledged.
func (in *Instance) PostTraces(ctx context.Context, traces ptraceotlp.ExportRequest) error {
	body, err := traces.MarshalProto()
	if err != nil {
		return err
	}
	status, answer, err := in.Post(ctx, Request{Path: TracesPath, ContentType: Protobuf, Body: body})
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s says %d: %s", TracesPath, status, answer)
	}
	response := ptraceotlp.NewExportResponse()
	if err := response.UnmarshalProto(answer); err != nil {
		return err
	}
	if partial := response.PartialSuccess(); partial.RejectedSpans() > 0 {
		return fmt.Errorf("%d spans rejected: %s", partial.RejectedSpans(), partial.ErrorMessage())
	}
	return nil
}

// PostLogs sends log records as protobuf and returns an error unless all of them were acknowledged.
func (in *Instance) PostLogs(ctx context.Context, logs plogotlp.ExportRequest) error {
	body, err := logs.MarshalProto()
	if err != nil {
		return err
	}
	status, answer, err := in.Post(ctx, Request{Path: LogsPath, ContentType: Protobuf, Body: body})
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s says %d: %s", LogsPath, status, answer)
	}
	response := plogotlp.NewExportResponse()
	if err := response.UnmarshalProto(answer); err != nil {
		return err
	}
	if partial := response.PartialSuccess(); partial.RejectedLogRecords() > 0 {
		return fmt.Errorf("%d records rejected: %s", partial.RejectedLogRecords(), partial.ErrorMessage())
	}
	return nil
}

// MustPost sends a request and fails the test unless it is answered with 200.
func (in *Instance) MustPost(r Request) {
	in.t.Helper()
	status, answer, err := in.Post(context.Background(), r)
	if err != nil {
		in.t.Fatalf("POST %s: %v", r.Path, err)
	}
	if status != http.StatusOK {
		in.t.Fatalf("POST %s: %d: %s", r.Path, status, answer)
	}
}

// do sends a request and reads the whole answer.
func (in *Instance) do(req *http.Request) (int, []byte, error) {
	resp, err := in.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}
