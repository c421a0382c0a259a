package assemble

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/steptrail/steptrail/internal/agent"
)

// cut drops the oldest steps beyond the limit, but for those that kept ones lie
// in, and gives the start of the oldest step within it.
func (c *cold) cut(limit int) (floor int64) {
	order := make([]int32, len(c.spots))
	for i := range order {
		order[i] = int32(i)
	}
	limit = min(limit, len(order))
	c.partition(order, limit)
	keep := make([]bool, len(c.spots))
	for n, i := range order[:limit] {
		keep[i] = true
		if at := c.spots[i].start; n == 0 || at < floor {
			floor = at
		}
	}
	c.keepParents(order[:limit], keep)
	c.drop(keep)
	return floor
}

// keepParents keeps the steps that kept ones lie in, newest first, as long as there
// are no more than twice the limit.
func (c *cold) keepParents(newest []int32, keep []bool) {
	var found []int32 // newest first
	note := func(of int32) {
		i := c.parentOf(of)
		if i < 0 || keep[i] || c.compare(i, of) >= 0 { // one that is newer was passed over
			return
		}
		if at, ok := slices.BinarySearchFunc(found, i, func(x, y int32) int { return c.compare(y, x) }); !ok {
			found = slices.Insert(found, at, i)
		}
	}
	for _, i := range newest {
		note(i)
	}
	for kept := len(newest); len(found) > 0 && kept < 2*len(newest); kept++ {
		i := found[0]
		found = found[1:]
		keep[i] = true
		note(i)
	}
}

// parentOf gives the step that one lies in; -1 if it is not here.
func (c *cold) parentOf(i int32) int32 {
	x := &c.spots[i]
	if x.parent.IsZero() {
		return -1
	}
	return int32(c.find(spanKey{c.places[x.place].trace, x.parent}))
}

// drop drops all spots but some, and marks what is left of the segments. Where
// little is, it is packed anew.
func (c *cold) drop(keep []bool) {
	rest := keep
	for i := range c.segments {
		rest = c.segments[i].drop(rest)
	}
	c.grown.drop(rest)
	c.closed = c.grown.kept != nil
	c.repack(func(x *segment) bool { return 2*x.left < x.n })

	places := make([]int32, len(c.places)) // number + 1 from now on
	old := c.places
	c.places = nil
	n := 0
	for i := range c.spots {
		if !keep[i] {
			continue
		}
		x := c.spots[i]
		if places[x.place] == 0 {
			c.places = append(c.places, old[x.place])
			places[x.place] = int32(len(c.places))
		}
		x.place = places[x.place] - 1
		c.spots[n] = x
		n++
	}
	c.spots = c.spots[:n]
	c.reindex()
}

// drop marks which of the steps that were left are kept, and gives what follows
// them in the list.
func (x *segment) drop(keep []bool) (rest []bool) {
	keep, rest = keep[:x.left], keep[x.left:]
	if !slices.Contains(keep, false) {
		return rest
	}
	if x.kept == nil {
		x.kept = make([]bool, x.n)
		for i := range x.kept {
			x.kept[i] = true
		}
	}
	x.left = 0
	n := 0
	for i := range x.kept {
		if !x.kept[i] {
			continue
		}
		if x.kept[i] = keep[n]; keep[n] {
			x.left++
		}
		n++
	}
	return rest
}

// partition puts the newest n first, in any order.
func (c *cold) partition(list []int32, n int) {
	rounds := 4 * bits.Len(uint(len(list))) // what chooses badly again and again is sorted
	for n > 0 && n < len(list) {
		if rounds--; rounds < 0 {
			slices.SortFunc(list, func(x, y int32) int { return c.compare(y, x) })
			return
		}
		// The middle one first: most lists are nearly in order.
		pivot := list[len(list)/2]
		i, k := 0, len(list)-1
		for i <= k {
			for c.compare(list[i], pivot) > 0 {
				i++
			}
			for c.compare(list[k], pivot) < 0 {
				k--
			}
			if i <= k {
				list[i], list[k] = list[k], list[i]
				i++
				k--
			}
		}
		switch {
		case n <= k:
			list = list[:k+1]
		case n >= i:
			list, n = list[i:], n-i
		default:
			return
		}
	}
}

// compare orders as agent.Step.Less does.
func (c *cold) compare(i, k int32) int {
	x, y := &c.spots[i], &c.spots[k]
	if x.start != y.start {
		return cmp.Compare(x.start, y.start)
	}
	return cmp.Or(cmp.Compare(x.end, y.end), c.traceOf(x).Compare(c.traceOf(y)), x.span.Compare(y.span))
}

func (c *cold) traceOf(x *spot) agent.TraceID { return c.places[x.place].trace }
