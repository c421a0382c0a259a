package store

import "slices"

// keyUse is a unit that a token stands in.
type keyUse struct {
	role    keyRole
	service string
	unit    string
}

// joined gives the sets of units that a token connects, so that every unit that
// bears on whether two of them are one run is in the same set. It only rules
// out what the rules of joining rule out at once: units of different services,
// and calls that every unit asks for and executes by itself.
func joined(token string, uses []keyUse) [][]string {
	var sets [][]string
	var traces []string
	for _, u := range uses {
		if u.role == roleTrace || u.role == roleLinks {
			traces = append(traces, u.unit)
		}
	}
	if len(traces) > 0 {
		sets = append(sets, append(traces, token)) // the unit of the trace itself
	}
	for _, service := range services(uses) {
		var asks, others, points []string
		asked := map[string]bool{}
		ran := map[string]bool{}
		for _, u := range uses {
			if u.service != service && u.service != "" {
				continue
			}
			switch u.role {
			case roleCheckpoint:
				points = append(points, u.unit)
			case roleAsks:
				asked[u.unit] = true
				asks = append(asks, u.unit)
			case roleExecutes, roleAnswered:
				ran[u.unit] = ran[u.unit] || u.role == roleExecutes
				others = append(others, u.unit)
			}
		}
		if len(points) > 1 {
			sets = append(sets, points)
		}
		open := slices.ContainsFunc(asks, func(u string) bool { return !ran[u] })
		foreign := slices.ContainsFunc(others, func(u string) bool { return !asked[u] })
		if open && foreign {
			sets = append(sets, append(asks, others...))
		}
	}
	return sets
}

// services are those of the uses; where none is named, the empty one.
func services(uses []keyUse) []string {
	var out []string
	for _, u := range uses {
		if u.service != "" && !slices.Contains(out, u.service) {
			out = append(out, u.service)
		}
	}
	if len(out) == 0 {
		return []string{""}
	}
	slices.Sort(out)
	return out
}
