package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// maxExport is the largest export that is read, in bytes.
const maxExport = 1 << 30

// eachExport reads a recorded OTLP export of traces (JSON, JSON lines, a list of
// either, or protobuf) and calls do with each record. It gives how many records
// hold no spans, such as logs in a file of all signals.
func eachExport(path string, stdin io.Reader, do func(ptrace.Traces)) (others int, err error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path) //nolint:gosec // the file that the user names
		if err != nil {
			return 0, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxExport+1))
	if err != nil {
		return 0, err
	}
	if len(data) > maxExport {
		return 0, fmt.Errorf("%s is larger than %d MiB", path, maxExport>>20)
	}
	records, err := readExport(data)
	if err != nil {
		return 0, fmt.Errorf("%s is no OTLP export of traces: %w", path, err)
	}
	for _, td := range records {
		if td.SpanCount() == 0 {
			others++
			continue
		}
		do(td)
	}
	return others, nil
}

// readExport tells the forms apart by their text. A protobuf export may look
// like white space and a brace at first.
func readExport(data []byte) ([]ptrace.Traces, error) {
	text := bytes.TrimLeft(data, "\ufeff \t\r\n")
	if len(text) == 0 {
		return nil, errors.New("it is empty")
	}
	var jsonErr error
	if text[0] == '{' || text[0] == '[' {
		records, err := readJSON(text)
		if err == nil {
			return records, nil
		}
		jsonErr = err
	}
	td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(data)
	switch {
	case err == nil && (jsonErr == nil || td.SpanCount() > 0):
		return []ptrace.Traces{td}, nil
	case jsonErr != nil:
		return nil, jsonErr
	default:
		return nil, fmt.Errorf("neither JSON nor protobuf: %w", err)
	}
}

func readJSON(text []byte) (records []ptrace.Traces, err error) {
	raws, err := jsonRecords(text)
	if err != nil {
		return nil, err
	}
	for n, raw := range raws {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(raw)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", n+1, err)
		}
		records = append(records, td)
	}
	return records, nil
}

// jsonRecords splits JSON, JSON lines, and lists of either into records.
func jsonRecords(text []byte) (records []json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	for n := 1; ; n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return records, nil
		} else if err != nil {
			return nil, fmt.Errorf("record %d: %w", n, err)
		}
		list := []json.RawMessage{raw}
		if raw[0] == '[' {
			if err := json.Unmarshal(raw, &list); err != nil {
				return nil, fmt.Errorf("record %d: %w", n, err)
			}
		}
		records = append(records, list...)
	}
}
