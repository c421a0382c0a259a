package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// unsetError names an environment variable that is not set.
type unsetError struct{ name string }

func (e *unsetError) Error() string {
	return fmt.Sprintf("environment variable %s is not set; set it, or give a default: ${env:%s:-value}", e.name, e.name)
}

// expand puts the environment into a value: ${env:NAME} or ${env:NAME:-default}; $$ is a dollar sign, and so is one before anything
// but a brace. It works on values that are parsed already, so a variable cannot bring YAML in, and what it brings is not expanded.
func expand(text string, env func(string) (string, bool)) (string, error) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		switch {
		case strings.HasPrefix(after, "$"):
			b.WriteByte('$')
			text = after[1:]
		case strings.HasPrefix(after, "{"):
			inner, rest, closed := strings.Cut(after[1:], "}")
			name, isEnv := strings.CutPrefix(inner, "env:")
			if !closed || !isEnv {
				return "", errors.New("holds ${ that is no ${env:NAME}; write $$ for a dollar sign")
			}
			value, err := lookUp(name, env)
			if err != nil {
				return "", err
			}
			b.WriteString(value)
			text = rest
		default:
			b.WriteByte('$')
			text = after
		}
	}
}

func lookUp(name string, env func(string) (string, bool)) (string, error) {
	name, def, hasDefault := strings.Cut(name, ":-")
	if !envName.MatchString(name) {
		return "", errors.New("holds ${env:…} without the name of a variable: use letters, digits and _")
	}
	if env != nil {
		if value, ok := env(name); ok {
			return value, nil
		}
	}
	if hasDefault {
		return def, nil
	}
	return "", &unsetError{name: name}
}
