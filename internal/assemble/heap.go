package assemble

// dueHeap orders groups by when they must be looked at.
type dueHeap []*group

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].due < h[j].due }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *dueHeap) Push(x any) {
	g := x.(*group)
	g.place = len(*h)
	*h = append(*h, g)
}

func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	g := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	g.place = -1
	return g
}

// lru orders groups by their last arrival.
type lru struct{ oldest, newest *group }

func (l *lru) push(g *group) {
	g.older, g.newer = l.newest, nil
	if l.newest != nil {
		l.newest.newer = g
	} else {
		l.oldest = g
	}
	l.newest = g
}

func (l *lru) remove(g *group) {
	if g.older != nil {
		g.older.newer = g.newer
	} else if l.oldest == g {
		l.oldest = g.newer
	}
	if g.newer != nil {
		g.newer.older = g.older
	} else if l.newest == g {
		l.newest = g.older
	}
	g.older, g.newer = nil, nil
}

func (l *lru) renew(g *group) {
	if l.newest != g {
		l.remove(g)
		l.push(g)
	}
}
