package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decoder turns YAML nodes into values by the table of keys, and collects what is wrong with them.
type decoder struct {
	env      func(string) (string, bool)
	key      string                       // stands in for a key that the environment does not have
	check    func(condition string) error // may be nil
	problems []*Problem
}

func (d *decoder) problem(key string, line int, err error) {
	d.problems = append(d.problems, &Problem{Key: key, Line: line, Err: err})
}

func (d *decoder) problemf(key string, line int, format string, args ...any) {
	d.problem(key, line, fmt.Errorf(format, args...))
}

var (
	yamlLine   = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	yamlParser = regexp.MustCompile(`^did not find expected (node content|<document start>|'-' indicator|key|',' or)`)
	yamlAnchor = regexp.MustCompile(`anchor '.*'`)
)

// load gives the one document of the file. What the parser quotes is left out of its errors: it may be a piece of a secret.
func (d *decoder) load(data []byte) *yaml.Node {
	if len(data) > MaxSize {
		d.problemf("", 0, "has %d bytes, at most %d are read", len(data), MaxSize)
		return nil
	}
	reader := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	err := reader.Decode(&document)
	if errors.Is(err, io.EOF) {
		return &yaml.Node{Kind: yaml.MappingNode, Line: 1} // what is required is reported one by one
	}
	if err == nil {
		if again := reader.Decode(new(yaml.Node)); again == nil {
			err = errors.New("has more than one document")
		} else if !errors.Is(again, io.EOF) {
			err = again
		}
	}
	if err != nil {
		text := err.Error()
		line := 0
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
			text = text[len(m[0]):]
		}
		if line > 0 && yamlParser.MatchString(text) {
			line++ // the library counts lines from 0 in errors of its parser, from 1 in those of its scanner
		}
		text = yamlAnchor.ReplaceAllString(text, "anchor (a text that begins with * needs quotes)")
		d.problemf("", line, "%s", text)
		return nil
	}
	return document.Content[0]
}

// resolve follows an alias.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	n = resolve(n)
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

func shape(n *yaml.Node) string {
	switch resolve(n).Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "a single value"
	}
}

// object is a mapping whose names were checked against the table of keys.
type object struct {
	d      *decoder
	spec   string // path in the table
	path   string // path in the file
	line   int
	fields map[string]*yaml.Node // nil where a name has no value
	order  []string              // the names as they stand in the file
}

// object reads a mapping. Nothing there is an empty one. It is nil where the value is something else, which is reported.
func (d *decoder) object(n *yaml.Node, spec, path string, line int) *object {
	o := &object{d: d, spec: spec, path: path, line: line, fields: make(map[string]*yaml.Node)}
	if n == nil || isNull(n) {
		return o
	}
	o.line = n.Line
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		d.problemf(path, o.line, "is %s, must be a mapping", shape(n))
		return nil
	}
	names := childIndex[spec]
	free := slices.Contains(names, "*")
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := key.Value
		switch _, twice := o.fields[name]; {
		case key.Kind != yaml.ScalarNode:
			d.problemf(path, key.Line, "has a key that is no plain text")
		case !free && !slices.Contains(names, name):
			d.problemf(o.at(name), key.Line, "is not known; known are %s", strings.Join(names, ", "))
		case twice:
			d.problemf(o.at(name), key.Line, "stands here twice")
		default:
			o.order = append(o.order, name)
			if isNull(value) {
				value = nil
			}
			o.fields[name] = value
		}
	}
	return o
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// at is the path of a key of the mapping.
func (o *object) at(name string) string {
	switch {
	case !plainName.MatchString(name):
		return o.path + "[" + quote(name) + "]"
	case o.path == "":
		return name
	default:
		return o.path + "." + name
	}
}

func (o *object) specOf(name string) *keySpec {
	path := name
	if o.spec != "" {
		path = o.spec + "." + name
	}
	spec := keyIndex[path]
	if spec == nil {
		panic("BUG: policy key without description: " + path)
	}
	return spec
}

func (o *object) has(name string) bool { return o.fields[name] != nil }

// value is the node under a name, nil where there is none; that a required one is missing is reported.
func (o *object) value(name string) *yaml.Node {
	n := o.fields[name]
	if spec := o.specOf(name); n == nil && spec.required {
		o.d.problem(o.at(name), o.line, notStated(spec))
	}
	return n
}

func notStated(spec *keySpec) error {
	if strings.Contains(spec.example, "\n") {
		return fmt.Errorf("is not stated and has no default: decide it, for example\n\n%s\n", spec.example) //nolint:revive,staticcheck // the example is a block of its own
	}
	return fmt.Errorf("is not stated and has no default; write for example %s", spec.example)
}

// child reads the mapping under a name. It is nil where that is missing and required, or no mapping; both are reported.
func (o *object) child(name string) *object {
	n := o.value(name)
	spec := o.specOf(name)
	if n == nil && spec.required {
		return nil
	}
	return o.d.object(n, spec.path, o.at(name), o.line)
}

// item is an entry of a list.
type item struct {
	node *yaml.Node
	path string
}

// items reads the list under a name.
func (o *object) items(name string) []item {
	n := o.value(name)
	if n == nil {
		return nil
	}
	spec, line := o.specOf(name), n.Line
	n = resolve(n)
	if n.Kind != yaml.SequenceNode {
		o.d.problemf(o.at(name), line, "is %s, must be a list", shape(n))
		return nil
	}
	if spec.max > 0 && int64(len(n.Content)) > spec.max {
		o.d.problemf(o.at(name), line, "has %d entries, at most %d are allowed", len(n.Content), spec.max)
		return nil
	}
	list := make([]item, len(n.Content))
	for i, c := range n.Content {
		list[i] = item{node: c, path: fmt.Sprintf("%s[%d]", o.at(name), i)}
	}
	return list
}

// objects reads the list of mappings under a name.
func (o *object) objects(name string) []*object {
	var list []*object
	for _, it := range o.items(name) {
		if e := o.d.object(it.node, o.specOf(name).path+"[]", it.path, it.node.Line); e != nil {
			list = append(list, e)
		}
	}
	return list
}
