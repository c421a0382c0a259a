package store

import (
	"context"
	"fmt"
	"strings"
)

// replaceAll puts constants of this program in the place of marks.
func replaceAll(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

// erasedTables are those out of which an erasure takes something.
func erasedTables() []string {
	out := []string{"erasures", "holds"}
	for _, t := range dataTables {
		out = append(out, t.name)
	}
	return out
}

// ServerTime is the server's clock, Unix seconds.
func (s *Store) ServerTime(ctx context.Context) (int64, error) {
	now, err := (&Reader{store: s}).count(ctx, string(sqlServerTime), nil)
	if err != nil {
		return 0, fmt.Errorf("server time: %w", err)
	}
	return now, nil
}

// PartsGone reports whether no part that was replaced up to a time by the
// server's clock, Unix seconds, lies on disk any more. While some do, it has the
// server look for them again. A server keeps them for 480 s by itself, so that a
// power cut finds either them or their successors whole; while an erasure waits
// it is 35 s, which is what systems take to write files out.
func (s *Store) PartsGone(ctx context.Context, until int64) (bool, error) {
	p := params{}.texts("tables", locals(erasedTables(), s.cfg.Cluster)).number("until", until)
	n, err := (&Reader{store: s}).count(ctx, partsOf(sqlInactiveParts, s.cfg.Cluster, allReplicas), p)
	if err != nil {
		return false, fmt.Errorf("look for replaced parts: %w", err)
	}
	sql := []statement{sqlKeepPartsShort, sqlClearParts}
	if n == 0 {
		sql = []statement{sqlKeepPartsAsSet}
	}
	for _, name := range erasedTables() {
		for _, one := range sql {
			if err := s.exec(ctx, one.of(dataTable{name: name}), nil, nil); err != nil {
				return false, fmt.Errorf("have replaced parts of %s removed: %w", name, err)
			}
		}
	}
	return n == 0, nil
}
