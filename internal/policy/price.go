package policy

import (
	"math"
	"math/bits"
	"strings"
)

// Price of a model, in whole 1e-9 USD for a million tokens.
type Price struct {
	// Model is the pattern, as written.
	Model string
	// Input, Cached and Output are for a million tokens each. Cached is Input where the policy states none.
	Input, Cached, Output int64
}

// Price is the first entry that matches the model's name as sent or without what stands before its last slash (openai/gpt-4o). Nil
// where none does. It does not allocate.
func (p *Policy) Price(model string) *Price {
	model = cut(model)
	if model == "" {
		return nil
	}
	i := p.priceIndex.first(model, 0, len(p.prices))
	if slash := strings.LastIndexByte(model, '/'); slash >= 0 {
		i = p.priceIndex.first(model[slash+1:], 0, i)
	}
	if i == len(p.prices) {
		return nil
	}
	return &p.prices[i]
}

// Cost is what the tokens cost, in whole 1e-9 USD, rounded half up once. input is all input tokens, cached those of them that came
// from a cache: what is reported as cached beyond input is charged as cached only. Negative counts are taken as 0. The sum is
// exact; where it does not fit it is math.MaxInt64. A nil price costs nothing.
func (p *Price) Cost(input, cached, output int64) int64 {
	if p == nil {
		return 0
	}
	cached = max(cached, 0)
	var sum wide
	sum.add(max(input-cached, 0), p.Input)
	sum.add(cached, p.Cached)
	sum.add(max(output, 0), p.Output)
	return sum.perMillion()
}

// wide is an unsigned sum of 128 bits. Three products of two int64 fit.
type wide struct{ hi, lo uint64 }

func (w *wide) add(tokens, price int64) {
	hi, lo := bits.Mul64(uint64(tokens), uint64(price))
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi, _ = bits.Add64(w.hi, hi, carry)
}

func (w *wide) perMillion() int64 {
	const million = 1_000_000
	lo, carry := bits.Add64(w.lo, million/2, 0)
	hi := w.hi + carry
	if hi >= million {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(hi, lo, million)
	return int64(min(quotient, math.MaxInt64))
}
