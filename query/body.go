package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/steptrail/steptrail/query/api"
)

// maxBody is the size of a request's body.
const maxBody = 64 << 10

// bodies are the request bodies of the routes that take one.
var bodies = map[string]func() any{
	resolutionRoute: func() any { return new(api.Resolution) },
	holdsRoute:      func() any { return new(api.HoldRequest) },
	erasuresRoute:   func() any { return new(api.ErasureRequest) },
}

// checkBody refuses a body that is too large, no JSON, or has fields that no
// handler would look at. The media type must be JSON: a form of another site,
// which browsers send without asking, has none of it.
func (s *Server) checkBody(c *gin.Context) {
	body := bodies[c.FullPath()]
	if body == nil || c.Request.Method != http.MethodPost {
		return
	}
	if media, _, err := mime.ParseMediaType(c.GetHeader("Content-Type")); err != nil || media != typeJSON {
		s.fail(c, newProblem(http.StatusUnsupportedMediaType, "the body must be "+typeJSON))
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if err != nil {
		p := newProblem(http.StatusBadRequest, "the body cannot be read")
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			p = newProblem(http.StatusRequestEntityTooLarge, "the body is too large")
			p.Limit = maxBody
		}
		s.fail(c, p)
		return
	}
	if err := decodeStrictly(raw, body()); err != nil {
		s.fail(c, err)
		return
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(raw))
}

func decodeStrictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, rest := d.Token(); !errors.Is(rest, io.EOF) {
			return newProblem(http.StatusBadRequest, "the body holds more than one JSON value")
		}
		return nil
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return newProblem(http.StatusBadRequest, "the body has a field that this call does not know: "+clip(field))
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return newProblem(http.StatusBadRequest, "the body's field "+clip(wrong.Field)+" must not be a "+clip(wrong.Value))
	}
	return newProblem(http.StatusBadRequest, "the body is no JSON object")
}
