package policy

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	durationForm = regexp.MustCompile(`^(?:\d{1,12}(?:\.\d{1,9})?(?:ms|s|m|h|d))+$`)
	durationPart = regexp.MustCompile(`([\d.]+)(ms|s|m|h|d)`)
	decimalForm  = regexp.MustCompile(`^(\d{1,30})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$`)
)

var durationUnits = []struct {
	name string
	size time.Duration
}{{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}}

// parseDuration reads 400d, 2m, 1h30m, 1.5s: exact, not negative.
func parseDuration(text string) (time.Duration, error) {
	if !durationForm.MatchString(text) {
		return 0, errors.New("is no duration: write for example 30s, 5m, 12h or 400d (units: ms, s, m for minutes, h, d)")
	}
	sum := new(big.Rat)
	for _, part := range durationPart.FindAllStringSubmatch(text, -1) {
		v, _ := new(big.Rat).SetString(part[1])
		for _, u := range durationUnits {
			if u.name == part[2] {
				sum.Add(sum, v.Mul(v, new(big.Rat).SetInt64(int64(u.size))))
			}
		}
	}
	if !sum.IsInt() {
		return 0, errors.New("is finer than a nanosecond")
	}
	if !sum.Num().IsInt64() {
		return math.MaxInt64, nil // beyond every limit of the table
	}
	return time.Duration(sum.Num().Int64()), nil
}

// formatDuration writes a duration so that parseDuration reads it, in the largest units that it fills.
func formatDuration(v time.Duration) string {
	if v == 0 {
		return "0s"
	}
	var b strings.Builder
	for _, u := range durationUnits {
		if n := v / u.size; n > 0 && u.name != "ms" {
			b.WriteString(strconv.FormatInt(int64(n), 10) + u.name)
			v -= n * u.size
		}
	}
	if v > 0 {
		fraction := strings.TrimRight(fmt.Sprintf("%06d", v%time.Millisecond), "0")
		b.WriteString(strconv.FormatInt(int64(v/time.Millisecond), 10))
		if fraction != "" {
			b.WriteString("." + fraction)
		}
		b.WriteString("ms")
	}
	return b.String()
}

// parseDecimal reads a decimal into whole 1e-9, exactly. The exponent form is what JSON writers make of small numbers.
func parseDecimal(text string) (int64, error) {
	m := decimalForm.FindStringSubmatch(text)
	if m == nil {
		return 0, errors.New("is no amount: write it as a decimal, for example 2.5")
	}
	v, _ := new(big.Int).SetString(m[1]+m[2], 10)
	exponent, _ := strconv.Atoi(m[3])
	scale := 9 + exponent - len(m[2])
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	if scale >= 0 {
		v.Mul(v, power)
	} else {
		rest := new(big.Int)
		v.QuoRem(v, power, rest)
		if rest.Sign() != 0 {
			return 0, errors.New("is finer than 0.000000001")
		}
	}
	if !v.IsInt64() {
		return math.MaxInt64, nil // beyond every limit of the table
	}
	return v.Int64(), nil
}

// formatDecimal writes whole 1e-9 so that parseDecimal reads them.
func formatDecimal(v int64) string {
	s := strconv.FormatInt(v/usd, 10)
	if fraction := strings.TrimRight(fmt.Sprintf("%09d", v%usd), "0"); fraction != "" {
		s += "." + fraction
	}
	return s
}

// limits says what a value of the key may be, for errors and README.
func (s *keySpec) limits() string {
	var text string
	switch s.kind {
	case kindInteger:
		text = fmt.Sprintf("%d to %d", s.min, s.max)
		if s.min == s.max {
			text = strconv.FormatInt(s.min, 10)
		}
	case kindShare:
		text = "0 to 1"
	case kindUSD:
		text = fmt.Sprintf("%s to %s", formatDecimal(s.min), formatDecimal(s.max))
	case kindDuration:
		text = fmt.Sprintf("%s to %s", formatDuration(time.Duration(s.min)), formatDuration(time.Duration(s.max)))
	case kindSecret:
		text = fmt.Sprintf("%d to %d bytes", s.min, s.max)
	case kindFlag:
		text = "true or false"
	case kindChoice:
		text = choice(s.names)
	case kindTexts:
		if s.names != nil {
			return choice(s.names)
		}
		text = fmt.Sprintf("up to %d entries of %d bytes", s.max, maxGlob)
	case kindGlobs:
		text = fmt.Sprintf("up to %d entries of %d bytes", s.max, maxGlob)
	case kindList, kindMapping:
		if s.max > 0 {
			text = fmt.Sprintf("up to %d entries", s.max)
		}
	default:
		text = fmt.Sprintf("up to %d bytes", s.max)
	}
	if s.never {
		text += ", or 0 for never"
	}
	return text
}
