package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"sync"
)

// A Domain separates hashes of one text that mean different things: they are
// never equal.
type Domain string

// The domains of comparison hashes.
const (
	DomainArguments Domain = "args"   // comparison form of a call's arguments
	DomainResult    Domain = "result" // comparison form of a result
	DomainOutput    Domain = "output" // a model's output
	DomainInput     Domain = "input"  // a model's input
	DomainMessage   Domain = "message"
	DomainSent      Domain = "sent" // the SHA-256 that a sender states, or ours of the same
)

// A Tenant redacts the texts of one tenant. It is safe for concurrent use; make
// it once with ForTenant and keep it.
type Tenant struct {
	r *Redactor
	// compared makes the form that is compared where masks are stored.
	compared *Tenant
	// macs holds *mac: HMAC under the tenant's key, whose two key blocks are
	// hashed once.
	macs sync.Pool
}

// mac is an HMAC and its buffers, for one goroutine at a time.
type mac struct {
	hash hash.Hash
	in   []byte
	sum  [sha256.Size]byte
}

// ForTenant returns what redacts the texts of a tenant, under a key derived from
// the Redactor's: pseudonyms and hashes of two tenants tell nothing about each
// other.
func (r *Redactor) ForTenant(tenant string) *Tenant {
	derive := hmac.New(sha256.New, r.key)
	derive.Write([]byte("steptrail tenant\x00" + tenant))
	key := derive.Sum(nil)
	t := &Tenant{r: r}
	t.macs.New = func() any { return &mac{hash: hmac.New(sha256.New, key)} }
	if r.mode == ModeMask {
		pseudonyms := *r
		pseudonyms.mode = ModePseudonym
		t.compared = pseudonyms.ForTenant(tenant)
	}
	return t
}

// Hash returns the keyed hash of a canonical form within a domain, the first 16
// bytes of an HMAC-SHA256. It allocates nothing.
func (t *Tenant) Hash(domain Domain, canonical []byte) [16]byte {
	m := t.macs.Get().(*mac)
	m.hash.Reset()
	m.in = append(append(append(m.in[:0], "hash\x00"...), domain...), 0)
	m.hash.Write(m.in)
	m.hash.Write(canonical)
	out := [16]byte(m.hash.Sum(m.sum[:0]))
	t.macs.Put(m)
	return out
}

// appendPseudonym appends [LABEL:…] for the normal form of a value.
func (t *Tenant) appendPseudonym(dst []byte, l label, normal []byte) []byte {
	m := t.macs.Get().(*mac)
	m.hash.Reset()
	m.in = append(append(append(m.in[:0], "value\x00"...), l...), 0)
	m.hash.Write(m.in)
	m.hash.Write(normal)
	sum := m.hash.Sum(m.sum[:0])
	dst = append(append(append(dst, '['), l...), ':')
	at := len(dst)
	for _, b := range sum[:idDigits/2] {
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	t.macs.Put(m)
	var check [checkDigits]byte
	t.check(&check, l, string(dst[at:]))
	return append(append(dst, check[:]...), ']')
}

// check writes the check digits of a pseudonym.
func (t *Tenant) check(digits *[checkDigits]byte, l label, id string) {
	m := t.macs.Get().(*mac)
	m.hash.Reset()
	m.in = append(append(append(append(m.in[:0], "check\x00"...), l...), 0), id...)
	m.hash.Write(m.in)
	sum := m.hash.Sum(m.sum[:0])
	for i := range digits {
		digits[i] = hexDigits[sum[i]&15]
	}
	t.macs.Put(m)
}
