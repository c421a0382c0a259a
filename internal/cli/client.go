package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/steptrail/steptrail/query/api"
)

// ErrNotFound is the error of a run or finding that the server does not know.
var ErrNotFound = errors.New("not found")

const (
	// maxAnswer bounds what is read of one answer, in bytes.
	maxAnswer = 1 << 30
	// maxProblem is the same for one that says why there is none.
	maxProblem = 1 << 20
)

// Client asks the query API. It is safe for concurrent use.
type Client struct {
	base *url.URL
	http *http.Client
	most int64 // bytes of an answer
}

// NewClient takes the base address of the API, as host:port or as a URL.
func NewClient(address string) (*Client, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("--api %q: want host:port or an http(s) URL", address)
	}
	return &Client{base: base, http: &http.Client{Timeout: 2 * time.Minute}, most: maxAnswer}, nil
}

// Raw gives the body of an answer as the server wrote it. The path's segments
// are escaped here, so that ids may hold any character.
func (c *Client) Raw(ctx context.Context, query url.Values, segments ...string) ([]byte, error) {
	return c.ask(ctx, http.MethodGet, query, nil, segments)
}

// ask sends body as JSON, unless it is nil.
func (c *Client) ask(ctx context.Context, method string, query url.Values, body any, segments []string) ([]byte, error) {
	var u strings.Builder
	u.WriteString(strings.TrimSuffix(c.base.String(), "/") + "/api/v1")
	for _, s := range segments {
		u.WriteString("/" + url.PathEscape(s))
	}
	if len(query) > 0 {
		u.WriteString("?" + query.Encode())
	}
	var sent io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), sent)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode != http.StatusOK {
		got, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
		if err != nil {
			return nil, fmt.Errorf("read the answer of %s: %w", c.base.Host, err)
		}
		return nil, problemOf(resp.StatusCode, got, query.Has)
	}
	got, err := io.ReadAll(io.LimitReader(resp.Body, c.most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of %s: %w", c.base.Host, err)
	case int64(len(got)) > c.most:
		return nil, fmt.Errorf("the answer of %s is longer than %d MB: ask for less", c.base.Host, c.most>>20)
	case !json.Valid(got):
		return nil, fmt.Errorf("the answer of %s is no JSON", c.base.Host)
	}
	return got, nil
}

func (c *Client) unreachable(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return fmt.Errorf("nothing answers at %s: start it with \"steptrail serve\", or name another address with --api", c.base.Host)
	}
	return err
}

// problemOf reads why there is no answer. A detail begins with the parameter at
// fault; one that was sent is named as the flag it came from.
func problemOf(status int, body []byte, sent func(string) bool) error {
	var p api.Problem
	if json.Unmarshal(body, &p) != nil || p.Detail == "" {
		return fmt.Errorf("the server answered %d %s", status, http.StatusText(status))
	}
	if rest, ok := strings.CutPrefix(p.Detail, p.Parameter+" "); ok && sent(p.Parameter) {
		p.Detail = flagOf(p.Parameter) + " " + rest
	}
	if status == http.StatusNotFound {
		return fmt.Errorf("%s (%w)", clean(p.Detail), ErrNotFound)
	}
	return errors.New(clean(p.Detail))
}

// flagOf is the flag that stands for a parameter of the API.
func flagOf(parameter string) string { return "--" + strings.ReplaceAll(parameter, "_", "-") }

// get decodes an answer.
func get[T any](ctx context.Context, c *Client, query url.Values, segments ...string) (T, error) {
	body, err := c.Raw(ctx, query, segments...)
	if err != nil {
		var none T
		return none, err
	}
	return Decode[T](body)
}

// Decode reads an answer that Raw or Settle gave.
func Decode[T any](body []byte) (v T, err error) {
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("the answer is not what this version expects: %w", err)
	}
	return v, nil
}

// Runs lists runs, newest first.
func (c *Client) Runs(ctx context.Context, query url.Values) (api.RunList, error) {
	return get[api.RunList](ctx, c, query, "runs")
}

// History gives a run's whole history without bodies.
func (c *Client) History(ctx context.Context, runID string) (api.History, error) {
	return get[api.History](ctx, c, url.Values{"content": {"none"}}, "runs", runID, "history")
}

// Findings lists findings, newest first.
func (c *Client) Findings(ctx context.Context, query url.Values) (api.FindingList, error) {
	return get[api.FindingList](ctx, c, query, "findings")
}

// Unknowns lists unknown outcomes, open ones first, oldest first.
func (c *Client) Unknowns(ctx context.Context, query url.Values) (api.UnknownList, error) {
	return get[api.UnknownList](ctx, c, query, "unknowns")
}

// Settle says how the unknown outcome under a finding's id ended, and gives the
// answer's body.
func (c *Client) Settle(ctx context.Context, findingID string, said *api.Resolution) ([]byte, error) {
	return c.ask(ctx, http.MethodPost, nil, said, []string{"unknowns", findingID, "resolution"})
}
