package otlpguardextension

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// signal is what a request of OTLP carries.
type signal uint8

const (
	signalNone signal = iota
	signalTraces
	signalLogs
	signalMetrics
	signalProfiles
)

func (s signal) String() string {
	return [...]string{"nothing", "traces", "logs", "metrics", "profiles"}[s]
}

// path is where the signal goes by default.
func (s signal) path() string {
	if s == signalProfiles {
		return "/v1development/profiles"
	}
	return "/v1/" + s.String()
}

// signalOf tells from the beginning of a body what it carries: signalNone where
// that cannot be told. cut: the body goes on after head.
func signalOf(head []byte, isProto, cut bool, own signal) signal {
	if isProto {
		return protoSignal(head, cut, own)
	}
	return jsonSignal(head)
}

// jsonSignal goes by the first key of the object.
func jsonSignal(head []byte) signal {
	rest := bytes.TrimLeft(head, "\ufeff \t\r\n")
	if len(rest) == 0 || rest[0] != '{' {
		return signalNone
	}
	rest = bytes.TrimLeft(rest[1:], " \t\r\n")
	if len(rest) == 0 || rest[0] != '"' {
		return signalNone
	}
	key, _, ok := bytes.Cut(rest[1:], []byte{'"'})
	if !ok {
		return signalNone
	}
	switch string(key) {
	case "resourceSpans", "resource_spans":
		return signalTraces
	case "resourceLogs", "resource_logs":
		return signalLogs
	case "resourceMetrics", "resource_metrics":
		return signalMetrics
	case "resourceProfiles", "resource_profiles":
		return signalProfiles
	}
	return signalNone
}

// maxItems bounds how many items of a request are looked at.
const maxItems = 64

// protoSignal goes by the fields of the items. The three requests have the same
// shape down to them (resources in field 1, scopes in 2, items in 2), so a body of
// another signal may well decode. It is another signal's if some items are and
// none is of the path's own.
//
// opentelemetry-proto: trace/v1, logs/v1, metrics/v1.
func protoSignal(head []byte, cut bool, own signal) signal {
	found, items := signalNone, 0
	eachMessage(head, cut, 1, func(resource []byte, cut bool) bool {
		eachMessage(resource, cut, 2, func(scope []byte, cut bool) bool {
			eachMessage(scope, cut, 2, func(item []byte, cut bool) bool {
				items++
				if s := itemSignal(item, cut, own); s != signalNone {
					found = s
				}
				return found != own && items < maxItems
			})
			return found != own && items < maxItems
		})
		return found != own && items < maxItems
	})
	return found
}

// itemSignal tells what an item is: the path's own where it can be that, unless
// it is evidently something else. Of an item that is cut off only its types speak:
// an id may stand behind all that is seen (the Go SDK writes fields backwards).
func itemSignal(item []byte, cut bool, own signal) signal {
	asOwn := fits(item, cut, own)
	if asOwn.identity {
		return own
	}
	best, score := signalNone, 0
	for _, s := range []signal{signalTraces, signalLogs, signalMetrics} {
		as := fits(item, cut, s)
		if s == own || !as.fits || as.unknown > 0 || as.score() <= score {
			continue
		}
		if !asOwn.fits || as.nested && !asOwn.nested && !cut {
			best, score = s, as.score()
		}
	}
	if best == signalNone && asOwn.fits && asOwn.fields > 0 && !cut {
		return own
	}
	return best
}

// fit is how an item looks when it is read as one of a signal.
type fit struct {
	fits     bool // every field has a type that it may have
	fields   int  // fields that the signal has
	unknown  int  // fields that it has not
	nested   bool // a field that is a message in this signal alone was read to its end
	identity bool // it has what every good item of the signal has
}

func (f fit) score() int {
	switch {
	case f.identity:
		return 3
	case f.nested:
		return 2
	case f.fields > 0:
		return 1
	}
	return 0
}

// want is what a field of an item must be.
type want uint8

const (
	text want = iota + 1
	id16
	id8
	message // fields that lie one after another to the end
	fixed64
	fixed32
	varint
)

var shapes = map[signal]map[protowire.Number]want{
	signalTraces: {
		1: id16, 2: id8, 3: text, 4: id8, 5: text, 6: varint, 7: fixed64, 8: fixed64, 9: message, 10: varint,
		11: message, 12: varint, 13: message, 14: varint, 15: message, 16: fixed32,
	},
	signalLogs: {
		1: fixed64, 2: varint, 3: text, 5: message, 6: message, 7: varint, 8: fixed32, 9: id16, 10: id8, 11: fixed64,
		12: text,
	},
	signalMetrics: {
		1: text, 2: text, 3: text, 5: message, 7: message, 9: message, 10: message, 11: message, 12: message,
	},
}

// nestedFields are those whose being a message tells a signal from the others: the
// body of a log record, the data of a metric, of which it has one.
var nestedFields = map[signal][]protowire.Number{signalLogs: {5}, signalMetrics: {5, 7, 9, 10, 11}}

// fits reads an item as one of a signal.
func fits(item []byte, cut bool, s signal) fit {
	f := fit{fits: true}
	var has [17]bool // fields that are there as a whole
	nested := 0
	for len(item) > 0 {
		num, typ, n := protowire.ConsumeTag(item)
		if n < 0 {
			f.fits = cut
			break
		}
		length := protowire.ConsumeFieldValue(num, typ, item[n:])
		whole := length >= 0
		if !whole && !cut {
			f.fits = false
			break
		}
		value := item[n:]
		if whole {
			value = value[:length]
		}
		w, known := shapes[s][num]
		switch {
		case !known:
			f.unknown++
		case !w.holds(typ, value, whole):
			f.fits = false
			return f
		default:
			f.fields++
			has[num] = whole && length > 1
			if has[num] && slices.Contains(nestedFields[s], num) {
				nested++
			}
		}
		if !whole {
			break
		}
		item = item[n+length:]
	}
	f.nested = nested > 0
	switch s {
	case signalTraces:
		f.identity = f.fits && has[1] && has[2] && (has[7] || has[8])
	case signalMetrics:
		f.fits = f.fits && (cut || has[1] && nested == 1)
	}
	return f
}

// holds tells whether a field may be what is wanted. Of a value that is not
// whole only the type is known.
func (w want) holds(typ protowire.Type, value []byte, whole bool) bool {
	switch w {
	case fixed64:
		return typ == protowire.Fixed64Type
	case fixed32:
		return typ == protowire.Fixed32Type
	case varint:
		return typ == protowire.VarintType
	}
	if typ != protowire.BytesType {
		return false
	}
	if !whole {
		return true
	}
	held, n := protowire.ConsumeBytes(value)
	if n < 0 {
		return false
	}
	switch w {
	case id16:
		return len(held) == 0 || len(held) == 16
	case id8:
		return len(held) == 0 || len(held) == 8
	case message:
		return isMessage(held)
	}
	return true
}

// isMessage tells whether b is fields one after another.
func isMessage(b []byte) bool {
	for len(b) > 0 {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// eachMessage calls f for each message in the field num of a message, while f
// says so; the last may be cut off, which f is told.
func eachMessage(in []byte, cut bool, num protowire.Number, f func(message []byte, cut bool) bool) {
	for len(in) > 0 {
		got, typ, n := protowire.ConsumeTag(in)
		if n < 0 {
			return
		}
		in = in[n:]
		if typ != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(got, typ, in); n < 0 {
				return
			}
			in = in[n:]
			continue
		}
		length, n := protowire.ConsumeVarint(in)
		if n < 0 {
			return
		}
		in = in[n:]
		short := length > uint64(len(in))
		if short && !cut {
			return
		}
		message := in
		if !short {
			message = in[:length]
		}
		if got == num && !f(message, short) {
			return
		}
		in = in[len(message):]
	}
}
