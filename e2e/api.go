package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// APIPrefix stands before every path of the API but /healthz, /readyz, /metrics and /openapi.yaml.
const APIPrefix = "/api/v1"

// Get asks the API for a path with its prefix and returns status and body. accept is the Accept header, "" for none.
func (in *Instance) Get(ctx context.Context, path, accept string) (status int, body []byte, err error) {
	return in.get(ctx, APIPrefix+path, accept)
}

// get asks the API's listener for a path as it is.
func (in *Instance) get(ctx context.Context, path, accept string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+in.Query+path, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	return in.do(req)
}

// GetJSON asks the API for a path (without the prefix) and decodes the answer into v. Any status but 200 is an error
// that holds the answer.
func (in *Instance) GetJSON(ctx context.Context, path string, v any) error {
	status, body, err := in.Get(ctx, path, JSON)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s says %d: %s", path, status, body)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%s: %w in %.300s", path, err, body)
	}
	return nil
}

// Collect follows the cursors of a list (path without cursor, as "/runs?limit=100") and returns all its items; field
// is the name of the list in the answer.
func Collect[T any](ctx context.Context, in *Instance, path, field string) ([]T, error) {
	var items []T
	separator := "?"
	if bytes.ContainsRune([]byte(path), '?') {
		separator = "&"
	}
	for cursor := ""; ; {
		page := make(map[string]json.RawMessage)
		at := path
		if cursor != "" {
			at += separator + "cursor=" + url.QueryEscape(cursor)
		}
		if err := in.GetJSON(ctx, at, &page); err != nil {
			return nil, err
		}
		var some []T
		if err := json.Unmarshal(page[field], &some); err != nil {
			return nil, fmt.Errorf("%s: %q of %s: %w", path, field, at, err)
		}
		items = append(items, some...)
		if err := json.Unmarshal(page["next_cursor"], &cursor); err != nil {
			return nil, fmt.Errorf("%s: next_cursor: %w", at, err)
		}
		if cursor == "" {
			return items, nil
		}
	}
}

// Metric returns the sum of a metric of the collector's own endpoint over all series that carry the given labels, and
// whether there is any.
func (in *Instance) Metric(ctx context.Context, name string, labels map[string]string) (sum float64, found bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+in.Telemetry+"/metrics", http.NoBody)
	if err != nil {
		return 0, false, err
	}
	_, body, err := in.do(req)
	if err != nil {
		return 0, false, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	for _, metric := range families[name].GetMetric() {
		carried := make(map[string]string, len(metric.GetLabel()))
		for _, label := range metric.GetLabel() {
			carried[label.GetName()] = label.GetValue()
		}
		matches := true
		for key, value := range labels {
			matches = matches && carried[key] == value
		}
		if matches {
			found = true
			sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
		}
	}
	return sum, found, nil
}
