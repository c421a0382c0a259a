package dialect

import (
	"cmp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// flatMessages gathers messages that came flattened, an attribute a field, and
// writes them as a list in OTel's form. Attributes may come in any order; a
// number in a name is only a sort key.
type flatMessages struct {
	fields []flatField
	most   int  // how many fields there can be; 0 where unknown
	size   int  // bytes of all values
	part   bool // a call came without id or name, or an answer without id
}

// flatField is one field of a message, of one of its contents or of its calls.
type flatField struct {
	message, item int32
	group         flatGroup
	name          flatName
	value         string
}

type flatGroup uint8

const (
	flatOwn flatGroup = iota
	flatContent
	flatContentCall // a call among the contents
	flatCall
)

type flatName uint8

const (
	flatRole flatName = iota
	flatText
	flatType
	flatID // of the call, or of the call that is answered
	flatToolName
	flatArguments
	flatOther
)

// index reads a number of at most nine digits and what follows the dot behind it.
func index(s string) (n int32, rest string, ok bool) {
	i := 0
	for i < len(s) && i < 10 && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + int32(s[i]-'0')
		i++
	}
	if i == 0 || i > 9 || i == len(s) || s[i] != '.' {
		return 0, "", false
	}
	return n, s[i+1:], true
}

// add takes a field by what follows the prefix of its name, as OpenInference
// spells it: N.message.role, N.message.tool_calls.M.tool_call.id.
func (f *flatMessages) add(rest string, v pcommon.Value) {
	n, rest, ok := index(rest)
	if !ok {
		return
	}
	rest, ok = strings.CutPrefix(rest, "message.")
	if !ok {
		return
	}
	e := flatField{message: n}
	switch rest {
	case "role":
		e.name = flatRole
	case "content":
		e.name = flatText
	case "tool_call_id":
		e.name = flatID
	case "name":
		e.name = flatToolName
	case "function_call_name":
		e.group, e.name = flatCall, flatToolName
	case "function_call_arguments_json":
		e.group, e.name = flatCall, flatArguments
	default:
		if e.group, e.item, e.name, ok = flatItem(rest); !ok {
			return
		}
	}
	e.value = text(v)
	f.put(e)
}

func flatItem(rest string) (group flatGroup, item int32, name flatName, ok bool) {
	if r, found := strings.CutPrefix(rest, "tool_calls."); found {
		group, rest = flatCall, r
	} else if r, found := strings.CutPrefix(rest, "contents."); found {
		group, rest = flatContent, r
	} else {
		return 0, 0, 0, false
	}
	item, rest, ok = index(rest)
	if !ok {
		return 0, 0, 0, false
	}
	switch rest {
	case "tool_call.id":
		name = flatID
	case "tool_call.function.name":
		name = flatToolName
	case "tool_call.function.arguments":
		name = flatArguments
	case "message_content.type":
		name = flatType
	case "message_content.text":
		name = flatText
	default:
		return group, item, flatOther, strings.HasPrefix(rest, "message_content.") || strings.HasPrefix(rest, "tool_call.")
	}
	if group == flatContent && name >= flatID {
		group = flatContentCall
	}
	return group, item, name, true
}

func (f *flatMessages) put(e flatField) {
	if f.fields == nil {
		f.fields = make([]flatField, 0, min(max(f.most, 16), 256))
	}
	f.fields = append(f.fields, e)
	f.size += len(e.value) + 24
}

func compareFlat(x, y flatField) int {
	return cmp.Or(cmp.Compare(x.message, y.message), cmp.Compare(x.group, y.group), cmp.Compare(x.item, y.item))
}

// list writes the messages as JSON; empty where there are none.
func (f *flatMessages) list() string {
	if len(f.fields) == 0 {
		return ""
	}
	if !slices.IsSortedFunc(f.fields, compareFlat) {
		slices.SortStableFunc(f.fields, compareFlat)
	}
	l := messageList{buf: make([]byte, 0, f.size+f.size/4+64)}
	for from := 0; from < len(f.fields); {
		to := from + 1
		for to < len(f.fields) && f.fields[to].message == f.fields[from].message {
			to++
		}
		f.message(&l, f.fields[from:to])
		from = to
	}
	return l.list()
}

// message writes one message. A text that stands both alone and among the
// contents, and a call that stands among calls and contents, is written once.
func (f *flatMessages) message(l *messageList, fields []flatField) {
	var role, content, id, name string
	calls, contents := false, false
	for i := range fields {
		e := &fields[i]
		switch {
		case e.group == flatCall:
			calls = true
		case e.group == flatContent:
			contents = contents || e.name == flatText
		case e.group != flatOwn:
		case e.name == flatRole:
			role = e.value
		case e.name == flatText:
			content = e.value
		case e.name == flatID:
			id = e.value
		case e.name == flatToolName:
			name = e.value
		}
	}
	switch role {
	case "tool-response", "function":
		role = "tool"
	case "tool-call":
		role = "assistant"
	}
	if role == "tool" || id != "" { // what names the call it answers is a tool's
		l.begin("tool")
		if contents && content == "" {
			content = joined(fields)
		}
		f.part = f.part || id == ""
		l.answer(id, name, content, false)
		l.end("")
		return
	}
	l.begin(role)
	if !contents {
		l.text(content)
	}
	for from := 0; from < len(fields); {
		to := from + 1
		for to < len(fields) && fields[to].group == fields[from].group && fields[to].item == fields[from].item {
			to++
		}
		switch g := fields[from].group; {
		case g == flatContent:
			flatContentPart(l, fields[from:to])
		case g == flatCall, g == flatContentCall && !calls:
			f.part = !flatCallPart(l, fields[from:to]) || f.part
		}
		from = to
	}
	l.end("")
}

func flatContentPart(l *messageList, fields []flatField) {
	typ, said, other := "", "", ""
	for i := range fields {
		switch fields[i].name {
		case flatType:
			typ = fields[i].value
		case flatText:
			said = fields[i].value
		case flatOther:
			other = fields[i].value
		default:
		}
	}
	switch {
	case typ == "reasoning" || typ == "thinking":
		l.part("reasoning", orElse(said, other))
	case said != "":
		l.text(said)
	case other != "":
		l.part(orElse(typ, "other"), other)
	}
}

// flatCallPart writes a call, and reports whether it has an id and a name.
func flatCallPart(l *messageList, fields []flatField) bool {
	var id, name, arguments string
	for i := range fields {
		switch fields[i].name {
		case flatID:
			id = fields[i].value
		case flatToolName:
			name = fields[i].value
		case flatArguments:
			arguments = fields[i].value
		default:
		}
	}
	l.call(id, name, arguments)
	return id != "" && name != ""
}

// joined is the text of all contents.
func joined(fields []flatField) string {
	var b strings.Builder
	for i := range fields {
		if fields[i].group == flatContent && fields[i].name == flatText {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(fields[i].value)
		}
	}
	return b.String()
}
