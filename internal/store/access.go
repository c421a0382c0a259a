package store

import (
	"context"
	"fmt"

	"github.com/steptrail/steptrail/internal/agent"
	"github.com/steptrail/steptrail/internal/store/column"
)

// LogAccess appends a line to the tenant's access log.
func (r *Reader) LogAccess(ctx context.Context, a *agent.Access) error {
	var set column.Set
	column.Add(&set, "tenant", column.NewDict()).Append(r.tenant)
	column.Add(&set, "at", column.NewMillis()).Append(a.At / 1e6)
	column.Add(&set, "actor", column.NewString()).Append(a.Actor)
	column.Add(&set, "role", column.NewDict()).Append(a.Role)
	column.Add(&set, "action", column.NewDict()).Append(a.Action)
	column.Add(&set, "run", column.NewString()).Append(a.Run)
	column.Add(&set, "detail", column.NewString()).Append(a.Detail)
	expires := column.Add(&set, "expires_at", column.NewDateTime())
	expires.Append(seconds(a.Expires))
	if err := r.store.insertSet(ctx, "access_log", &set, expires.Vals, ""); err != nil {
		return fmt.Errorf("insert access_log: %w", err)
	}
	return nil
}
