package dialect

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/steptrail/steptrail/internal/canon"
)

// LogKind is what a log record is.
type LogKind uint8

// The kinds of log records.
const (
	LogOther   LogKind = iota // no content of a model call
	LogMessage                // one message of a call
	LogCall                   // all messages of a call
)

// NormalizeLog moves the content of a log record to the canonical attributes:
// the messages of a model call that a span of the same trace and span id made.
// Other records are left as they are.
func NormalizeLog(lr plog.LogRecord) LogKind {
	name := lr.EventName()
	at := lr.Attributes()
	if name == "" {
		if v, ok := at.Get(canon.EventName); ok {
			name = text(v)
		}
	}
	if !isContentEvent(name) || lr.SpanID().IsEmpty() {
		return LogOther
	}
	body := lr.Body()
	if name == eventDetails {
		if body.Type() == pcommon.ValueTypeMap {
			takeDetails(at, body.Map(), 0)
			body.Map().RemoveIf(func(k string, _ pcommon.Value) bool {
				_, there := at.Get(k)
				return there
			})
		}
		flatten(at)
		if !hasMessages(at) {
			return LogOther
		}
		return LogCall
	}
	message := appendElement(nil, name, bodyMap(body))
	if name == eventChoice {
		putMissing(at, canon.OutputMessages, message)
	} else {
		putMissing(at, canon.InputMessages, message)
	}
	pcommon.NewValueEmpty().CopyTo(body)
	return LogMessage
}

func bodyMap(body pcommon.Value) pcommon.Map {
	if body.Type() == pcommon.ValueTypeMap {
		return body.Map()
	}
	m := pcommon.NewMap()
	if body.Type() != pcommon.ValueTypeEmpty {
		body.CopyTo(m.PutEmpty("content"))
	}
	return m
}

func hasMessages(at pcommon.Map) bool {
	for _, k := range [...]string{canon.InputMessages, canon.OutputMessages, canon.SystemInstructions} {
		if _, ok := at.Get(k); ok {
			return true
		}
	}
	return false
}
