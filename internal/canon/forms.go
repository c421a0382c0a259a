package canon

import "github.com/steptrail/steptrail/internal/cjson"

// appendArgumentsForm is the comparison form of arguments inside a message. A
// message is the same whenever it is sent, so no clock is known.
func appendArgumentsForm(dst []byte, raw string) []byte { return ArgumentsForm(dst, raw, 0) }

// ArgumentsForm appends the comparison form of arguments: JSON, JSON in a JSON
// string, or text. start is when the call began in Unix nanoseconds, 0 where
// unknown.
func ArgumentsForm(dst []byte, raw string, start int64) []byte {
	out, err := cjson.AppendArguments(dst, raw, start)
	if err != nil {
		return cjson.AppendArgumentsText(dst, raw)
	}
	return out
}

func appendResultForm(dst []byte, raw string) []byte { return ResultForm(dst, raw) }

// ResultForm appends the comparison form of a result: JSON, or text.
func ResultForm(dst []byte, raw string) []byte {
	out, err := cjson.AppendResult(dst, raw)
	if err != nil {
		return cjson.AppendResultText(dst, raw)
	}
	return out
}

// ResultText takes the text out of a result that is wrapped in blocks, as MCP
// and Anthropic wrap it ({"content":[{"type":"text","text":…}],"isError":…}, or
// the list alone), and tells whether it is marked as an error. Any other result
// comes back as it is.
func ResultText(raw string) (text string, isError bool) {
	sc := cjson.Scan(raw)
	if sc.Kind() == cjson.KindObject {
		blocks := ""
		members := 0
		for sc.Object(); sc.Next(); {
			switch sc.Key() {
			case "content":
				blocks = sc.Raw()
			case "isError", "is_error":
				isError = sc.Raw() == "true"
			case "structuredContent", "_meta", "meta":
			default:
				members++
			}
		}
		if blocks == "" || members > 0 || !sc.End() {
			return raw, isError && members == 0
		}
		sc = cjson.Scan(blocks)
	}
	if sc.Kind() != cjson.KindArray {
		return raw, isError
	}
	n := 0
	for sc.Array(); sc.Next(); {
		p := readPart(sc.Raw())
		if n++; n > 1 || p.typ != "text" && p.typ != "" || p.text == "" {
			return raw, isError
		}
		text = cjson.Text(p.text)
	}
	if n != 1 || !sc.End() {
		return raw, isError
	}
	return text, isError
}
