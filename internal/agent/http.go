package agent

import "strings"

// httpBelow appends the topmost HTTP spans below a node that no step and no
// agent stands before, in order.
func (b *builder) httpBelow(at int32, to []int32) []int32 {
	for c := b.a.nodes[at].child; c >= 0; c = b.a.nodes[c].sibling {
		nd := &b.a.nodes[c]
		switch {
		case nd.isAgent || nd.step || nd.run != b.run:
		case b.a.steps[c].Op == OpHTTP:
			to = append(to, c)
		default:
			to = b.httpBelow(c, to)
		}
	}
	return to
}

func isSafe(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS":
		return true
	}
	return false
}

// carriesCall: a request that only carries the call to where it is executed, as
// the POST of MCP does.
func carriesCall(s *Step) bool {
	url := strings.TrimRight(s.HTTP.URL, "/")
	switch url[strings.LastIndexByte(url, '/')+1:] {
	case "mcp", "sse", "messages", "message":
		return strings.Contains(url, "/mcp") || strings.HasSuffix(url, "/sse") || s.HTTP.Method == "POST" && strings.HasSuffix(url, "/messages/")
	}
	return false
}

// collectHTTP finds the requests of each attempt. Those below a model call are
// its attempts.
func (b *builder) collectHTTP() {
	found := false
	for _, at := range b.g.nodes {
		if b.a.steps[at].Op == OpHTTP && !b.a.nodes[at].inHTTP {
			found = true
			break
		}
	}
	if !found {
		return
	}
	for i := range b.cands {
		c := &b.cands[i]
		if c.gone || c.class == classOther || c.op == OpGate {
			continue
		}
		for _, at := range b.members(c) {
			c.http = b.httpBelow(at, c.http)
		}
	}
	for i, n := 0, len(b.cands); i < n; i++ {
		if !b.cands[i].gone && b.cands[i].class == classModel && b.cands[i].op == OpModel {
			b.splitByRequests(i)
		}
	}
}

// splitByRequests makes one attempt of each request of a model call, where there
// are several.
func (b *builder) splitByRequests(i int) {
	var sent []int32
	for _, h := range b.cands[i].http {
		if s := b.a.steps[h]; s.HTTP.Method != "" && !isSafe(s.HTTP.Method) && len(sent) < maxParts {
			sent = append(sent, h)
		}
	}
	if len(sent) < 2 {
		return
	}
	whole := b.cands[i]
	for n, h := range sent {
		part := whole
		s := b.a.steps[h]
		part.part, part.parts, part.http = uint16(n+1), true, []int32{h}
		part.spans = append(append([]int32(nil), b.members(&whole)...), h)
		if part.frame < 0 {
			part.frame = whole.node
		}
		part.start, part.end = s.Start, s.End
		if part.early = n < len(sent)-1; !part.early {
			b.cands[i] = part
		} else {
			b.cands = append(b.cands, part)
		}
	}
}

// maxParts bounds the attempts inside one span.
const maxParts = 255

// judgeRequests gives the outcome that the requests of an act show: per method
// and URL the last one decides, and the worst of them counts. False where none
// tells.
func (b *builder) judgeRequests(c *cand) (worst Outcome, ok bool) {
	type place struct{ method, url string }
	last := map[place]int32{}
	var places []place
	for _, h := range c.http {
		s := b.a.steps[h]
		if s.HTTP.Method == "" || isSafe(s.HTTP.Method) || carriesCall(s) {
			continue
		}
		p := place{s.HTTP.Method, s.HTTP.URL}
		before, again := last[p]
		if !again {
			places = append(places, p)
		} else if b.unsafeAgain(before, h) {
			c.unsafe = true
		}
		if !again || h > before {
			last[p] = h
		}
	}
	for _, p := range places {
		worst = worse(worst, outcomeOf(requestSign(b.a.steps[last[p]]), KindAct))
	}
	return worst, len(places) > 0
}

// unsafeAgain: the second request began after the first had ended without an
// answer, under another key or none.
func (b *builder) unsafeAgain(x, y int32) bool {
	first, second := b.a.steps[x], b.a.steps[y]
	if second.Start < first.End {
		return false
	}
	sign := requestSign(first)
	if sign != SignLost && sign != SignException {
		return false
	}
	return first.HTTP.Key == "" || first.HTTP.Key != second.HTTP.Key
}

// requestSign is what an HTTP span shows: its status code before all else.
func requestSign(s *Step) Sign {
	if s.StatusCode != 0 {
		if s.StatusCode < 400 {
			return SignOK
		}
		return codeSign(int(s.StatusCode))
	}
	return s.Sign
}

// keyOfRequests is the one idempotency key that all requests of an act carry;
// empty if there is none, or one of them has no or another key.
func (b *builder) keyOfRequests(c *cand) string {
	key := ""
	for n, h := range c.http {
		s := b.a.steps[h]
		if s.HTTP.Method == "" || isSafe(s.HTTP.Method) || carriesCall(s) {
			continue
		}
		if s.HTTP.Key == "" || (n > 0 && key != "" && key != s.HTTP.Key) {
			return ""
		}
		key = s.HTTP.Key
	}
	return key
}
