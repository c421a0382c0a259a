package policy

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// scalar is a single value, with the environment put in.
type scalar struct {
	text string
	raw  string // as written: the only form that an error may show
	path string
	line int
}

// scalar reads a single value. What is wrong with it is reported.
func (d *decoder) scalar(n *yaml.Node, path string) (scalar, bool) {
	s := scalar{path: path, line: n.Line}
	n = resolve(n)
	if n.Kind != yaml.ScalarNode {
		d.problemf(path, s.line, "is %s, must be a single value", shape(n))
		return s, false
	}
	switch n.Tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!null":
	default:
		d.problemf(path, s.line, "has a YAML tag; write the value without it")
		return s, false
	}
	s.raw = n.Value
	text, err := expand(n.Value, d.env)
	if err != nil {
		d.problem(path, s.line, err)
		return s, false
	}
	s.text = text
	return s, true
}

// scalarAt reads the single value under a name, or its default. False: there is none, or it is wrong, which is reported.
func (o *object) scalarAt(name string) (scalar, bool) {
	n := o.value(name)
	if n == nil {
		def := o.specOf(name).def
		return scalar{text: def, raw: def, path: o.at(name), line: o.line}, def != ""
	}
	return o.d.scalar(n, o.at(name))
}

// read parses the single value under a name with a function that says what is wrong. The zero value where there is none.
func read[T any](o *object, name string, parse func(spec *keySpec, text string) (T, error)) T {
	var zero T
	s, ok := o.scalarAt(name)
	if !ok {
		return zero
	}
	v, err := parse(o.specOf(name), s.text)
	if err != nil {
		o.d.problem(s.path, s.line, fmt.Errorf("%s %w", quote(s.raw), err))
		return zero
	}
	return v
}

func (o *object) integer(name string) int64          { return read(o, name, parseInteger) }
func (o *object) usd(name string) int64              { return read(o, name, parseUSD) }
func (o *object) duration(name string) time.Duration { return read(o, name, parseTerm) }
func (o *object) share(name string) float64          { return read(o, name, parseShare) }
func (o *object) flag(name string) bool              { return read(o, name, parseFlag) }
func (o *object) text(name string) string            { return read(o, name, parseText) }
func (o *object) template(name string) *Template     { return read(o, name, parseTemplate) }
func (o *object) pattern(name string) *regexp.Regexp { return read(o, name, parsePattern) }
func choose[T ~uint8](o *object, name string) (_ T)  { return T(read(o, name, parseChoice)) }

// texts reads the list of texts under a name, each once.
func (o *object) texts(name string) []string {
	spec := o.specOf(name)
	var list []string
	seen := make(map[string]bool)
	for _, it := range o.items(name) {
		if isNull(it.node) {
			o.d.problemf(it.path, it.node.Line, "is empty")
			continue
		}
		s, ok := o.d.scalar(it.node, it.path)
		if !ok {
			continue
		}
		one := keySpec{kind: kindText, min: 1, max: maxGlob}
		if spec.names != nil {
			one = keySpec{kind: kindChoice, names: spec.names}
		}
		err := checkText(&one, s.text)
		if err == nil && seen[s.text] {
			err = errors.New("stands in the list twice")
		}
		if err != nil {
			o.d.problem(s.path, s.line, fmt.Errorf("%s %w", quote(s.raw), err))
			continue
		}
		seen[s.text] = true
		list = append(list, s.text)
	}
	return list
}

func parseInteger(spec *keySpec, text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (v >= spec.min && v <= spec.max || spec.never && v == 0) {
		return v, nil
	}
	return 0, fmt.Errorf("is not allowed: use %s", spec.limits())
}

func parseUSD(spec *keySpec, text string) (int64, error) {
	v, err := parseDecimal(text)
	if err != nil {
		return 0, err
	}
	if v < spec.min || v > spec.max {
		return 0, fmt.Errorf("is not allowed: use %s", spec.limits())
	}
	return v, nil
}

func parseTerm(spec *keySpec, text string) (time.Duration, error) {
	v, err := parseDuration(text)
	if err != nil {
		return 0, err
	}
	if int64(v) < spec.min || int64(v) > spec.max {
		return 0, fmt.Errorf("is not allowed: use %s (units: ms, s, m for minutes, h, d)", spec.limits())
	}
	return v, nil
}

func parseShare(spec *keySpec, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, fmt.Errorf("is not allowed: use %s", spec.limits())
	}
	return v, nil
}

func parseFlag(_ *keySpec, text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("is not allowed: use true or false")
}

func parseChoice(spec *keySpec, text string) (uint8, error) {
	if err := checkText(spec, text); err != nil {
		return 0, err
	}
	return uint8(slices.Index(spec.names, text) + 1), nil
}

func parseText(spec *keySpec, text string) (string, error) { return text, checkText(spec, text) }

var validName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// checkText checks what all texts have in common, and names and choices.
func checkText(spec *keySpec, text string) error {
	if spec.kind == kindChoice {
		if !slices.Contains(spec.names, text) {
			return fmt.Errorf("is not allowed: use %s", choice(spec.names))
		}
		return nil
	}
	control := func(r rune) bool {
		return unicode.IsControl(r) && (spec.kind != kindLines || r != '\n' && r != '\t')
	}
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("is empty")
	case int64(len(text)) > spec.max:
		return fmt.Errorf("has %d bytes, at most %d are allowed", len(text), spec.max)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, control):
		return errors.New("holds control characters or is no UTF-8")
	case spec.kind == kindName && !validName.MatchString(text):
		return errors.New("is no name: use a-z, 0-9 and _, a letter first")
	}
	return nil
}

func parseTemplate(spec *keySpec, text string) (*Template, error) {
	if err := checkText(spec, text); err != nil {
		return nil, err
	}
	t, err := compileTemplate(text)
	if err != nil {
		return nil, fmt.Errorf("is no template: %w", err)
	}
	return t, nil
}

func parsePattern(spec *keySpec, text string) (*regexp.Regexp, error) {
	if err := checkText(spec, text); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	var bad *syntax.Error
	switch {
	case errors.As(err, &bad):
		place := ""
		if i := strings.Index(text, bad.Expr); i >= 0 && bad.Expr != "" {
			place = fmt.Sprintf(" at character %d", utf8.RuneCountInString(text[:i])+1)
		}
		return nil, fmt.Errorf("does not compile: %s%s", bad.Code, place) // not the piece itself: it may come from the environment
	case err != nil:
		return nil, errors.New("does not compile")
	case re.MatchString(""):
		return nil, errors.New("matches empty text, so it would match everywhere")
	}
	return re, nil
}
