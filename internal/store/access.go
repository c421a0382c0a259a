package store

import (
	"context"
	"fmt"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// LogAccess appends lines to the tenant's access log.
func (r *Reader) LogAccess(ctx context.Context, lines []agent.Access) error {
	var set column.Set
	tenant, at := column.Add(&set, "tenant", column.NewDict()), column.Add(&set, "at", column.NewMillis())
	actor, role := column.Add(&set, "actor", column.NewString()), column.Add(&set, "role", column.NewDict())
	action, run := column.Add(&set, "action", column.NewDict()), column.Add(&set, "run", column.NewString())
	detail, expires := column.Add(&set, "detail", column.NewString()), column.Add(&set, "expires_at", column.NewDateTime())
	for i := range lines {
		a := &lines[i]
		tenant.Append(r.tenant)
		at.Append(a.At / 1e6)
		actor.Append(a.Actor)
		role.Append(a.Role)
		action.Append(a.Action)
		run.Append(a.Run)
		detail.Append(a.Detail)
		expires.Append(seconds(a.Expires))
	}
	if err := r.store.insertSet(ctx, "access_log", &set, expires.Vals, ""); err != nil {
		return fmt.Errorf("insert access_log: %w", err)
	}
	return nil
}
