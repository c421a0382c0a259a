package main

import (
	"errors"
	"fmt"
)

// errNoAnswer is what a caller sees whose request arrived and whose answer was
// lost.
var errNoAnswer = errors.New("payment service did not answer within 30s")

// refund is a refund that the service has booked.
type refund struct {
	ID    string
	Order string
	Cents int64
	Key   string
}

// payments is the payment service. It books what it is asked to, once per
// idempotency key; the answer to the first refund is lost on its way back.
type payments struct {
	booked []refund
	calls  int
}

func newPayments() *payments { return &payments{} }

// refund books a refund. Under a key that it has seen it books nothing and
// gives the refund booked before.
func (p *payments) refund(order string, cents int64, key string) (refund, error) {
	p.calls++
	r, known := p.under(key)
	if !known {
		r = refund{ID: fmt.Sprintf("re_%04d", 1001+len(p.booked)), Order: order, Cents: cents, Key: key}
		p.booked = append(p.booked, r)
	}
	if p.calls == 1 {
		return refund{}, errNoAnswer
	}
	return r, nil
}

// lookup finds the refunds booked for an order.
func (p *payments) lookup(order string) []refund {
	var found []refund
	for _, r := range p.booked {
		if r.Order == order {
			found = append(found, r)
		}
	}
	return found
}

func (p *payments) under(key string) (refund, bool) {
	for _, r := range p.booked {
		if key != "" && r.Key == key {
			return r, true
		}
	}
	return refund{}, false
}

func (p *payments) total() (cents int64) {
	for _, r := range p.booked {
		cents += r.Cents
	}
	return cents
}

func euros(cents int64) string { return fmt.Sprintf("EUR %d.%02d", cents/100, cents%100) }
