package cjson

import (
	"math"
	"strconv"
	"strings"
)

// maxExponent bounds the exponents that the exact form takes; a number beyond
// it is ErrNumber. No double, decimal128 or database number comes near it.
const maxExponent = 999_999_999_999

// appendDouble appends a JSON number as ECMAScript writes the double that it
// denotes (RFC 8785, section 3.2.2.3). A number beyond a double is ErrNumber.
func appendDouble(dst []byte, num string) ([]byte, error) {
	if isShortInteger(num) {
		return append(dst, num...), nil
	}
	f, err := strconv.ParseFloat(num, 64)
	if err != nil {
		return dst, ErrNumber
	}
	if f == 0 {
		return append(dst, '0'), nil
	}
	abs := math.Abs(f)
	if abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1] // e-07 is written e-7
		dst = dst[:n-1]
	}
	return dst, nil
}

// isShortInteger reports whether num is an integer of at most 15 digits, which
// all forms write as it is. "-0" is none.
func isShortInteger(num string) bool {
	digits := strings.TrimPrefix(num, "-")
	if len(digits) > 15 || num == "-0" {
		return false
	}
	for i := range len(digits) {
		if !isDigit(digits[i]) {
			return false
		}
	}
	return true
}

// decimal is a number taken apart: sign, digits without a point, exponent of
// the last digit.
type decimal struct {
	negative bool
	whole    string // digits before the point
	fraction string // digits behind it
	exponent int64
}

func parseDecimal(num string) (decimal, error) {
	var d decimal
	num, d.negative = strings.CutPrefix(num, "-")
	if n := strings.IndexAny(num, "eE"); n >= 0 {
		exp, sign := num[n+1:], int64(1)
		if exp[0] == '-' {
			sign = -1
		}
		if exp[0] == '-' || exp[0] == '+' {
			exp = exp[1:]
		}
		exp = strings.TrimLeft(exp, "0")
		if len(exp) > 12 {
			// Zero is zero under any exponent.
			if strings.Trim(num[:n], "0.") == "" {
				return decimal{whole: "0"}, nil
			}
			return d, ErrNumber
		}
		for i := range len(exp) {
			d.exponent = d.exponent*10 + int64(exp[i]-'0')
		}
		d.exponent *= sign
		num = num[:n]
	}
	d.whole, d.fraction, _ = strings.Cut(num, ".")
	return d, nil
}

// appendExact appends a number as an exact decimal, each value in one way only:
// no fraction, no trailing zeros, an exponent where it is not 0. So 1, 1.0 and
// 10e-1 are 1, and 100 is 1e2. It never goes through a double.
func appendExact(dst []byte, num string) ([]byte, error) {
	if isShortInteger(num) && (num[len(num)-1] != '0' || num == "0") {
		return append(dst, num...), nil
	}
	d, err := parseDecimal(num)
	if err != nil {
		return dst, err
	}
	from := len(dst)
	dst = append(dst, d.whole...)
	dst = append(dst, d.fraction...)
	exponent := d.exponent - int64(len(d.fraction))
	for len(dst) > from && dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
		exponent++
	}
	if len(dst) == from {
		return append(dst, '0'), nil
	}
	zeros := 0
	for dst[from+zeros] == '0' {
		zeros++
	}
	dst = append(dst[:from], dst[from+zeros:]...)
	if d.negative {
		dst = append(dst, 0)
		copy(dst[from+1:], dst[from:])
		dst[from] = '-'
	}
	if exponent > maxExponent || exponent < -maxExponent {
		return dst[:from], ErrNumber
	}
	if exponent != 0 {
		dst = append(dst, 'e')
		dst = strconv.AppendInt(dst, exponent, 10)
	}
	return dst, nil
}

// maxPlain is how many digits plainNumber writes before it uses an exponent.
const maxPlain = 40

// plainNumber writes a number the way people do: integers plain, fractions
// without trailing zeros, an exponent only where it would take more than
// maxPlain digits. It returns num itself where that is its form.
func plainNumber(num string) string {
	if isShortInteger(num) {
		return num
	}
	var buf [64]byte
	exact, err := appendExact(buf[:0], num)
	if err != nil {
		return num
	}
	mantissa, exp, scaled := strings.Cut(string(exact), "e")
	if !scaled {
		return mantissa
	}
	exponent, _ := strconv.Atoi(exp) // at most maxExponent, written by appendExact
	digits, negative := strings.CutPrefix(mantissa, "-")
	sign := ""
	if negative {
		sign = "-"
	}
	switch {
	case exponent > 0 && len(digits)+exponent <= maxPlain:
		return mantissa + strings.Repeat("0", exponent)
	case exponent < 0 && -exponent < len(digits):
		point := len(digits) + exponent
		return sign + digits[:point] + "." + digits[point:]
	case exponent < 0 && -exponent <= maxPlain:
		return sign + "0." + strings.Repeat("0", -exponent-len(digits)) + digits
	}
	return string(exact)
}
