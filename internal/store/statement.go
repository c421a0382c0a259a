package store

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// statement is the text of sql/name.sql. Where it says /* columns */ the names
// of a set of columns are put: constants of this program. Nothing else is ever
// put into a statement; values are parameters.
type statement string

func load(name string) statement {
	text, err := sqlFiles.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return statement(strings.TrimSpace(string(text)))
}

const columnsMark = "/* columns */"

func (s statement) with(columns string) string {
	if strings.Count(string(s), columnsMark) != 1 {
		panic(fmt.Sprintf("BUG: statement without one %s: %s", columnsMark, s))
	}
	return strings.Replace(string(s), columnsMark, columns, 1)
}

var (
	sqlStepsOfUnits   = load("steps_of_units")
	sqlFactsOfUnits   = load("facts_of_units")
	sqlLogsOfTraces   = load("logs_of_traces")
	sqlKeysOfTokens   = load("keys_of_tokens")
	sqlBodies         = load("bodies")
	sqlLinksOfUnits   = load("links_of_units")
	sqlLinksOfRun     = load("links_of_run")
	sqlRunFate        = load("run_fate")
	sqlChanges        = load("changes")
	sqlChangedUnits   = load("changed_units")
	sqlRunsPage       = load("runs_page")
	sqlRunsPageUp     = load("runs_page_ascending")
	sqlRunsOfIDs      = load("runs_of_ids")
	sqlFindingsPage   = load("findings_page")
	sqlFindingsOfIDs  = load("findings_of_ids")
	sqlFindingsOfRuns = load("findings_of_runs")
	sqlActsUnderKeys  = load("acts_under_keys")
	sqlActsOfUnits    = load("acts_of_units")
	sqlLastSweep      = load("last_sweep")
	sqlUnknownsPage   = load("unknowns_page")
	sqlRunsEnded      = load("runs_ended")
	sqlFindingsOpen   = load("findings_open")

	sqlAttemptsWritten = load("attempts_written")

	sqlResolutionsOfUnits = load("resolutions_of_units")

	sqlRetentionParts  = load("retention_parts")
	sqlRetentionRows   = load("retention_rows")
	sqlMovedDelete     = load("moved_delete")
	sqlMovedDerived    = load("moved_derived")
	sqlMovedRuns       = load("moved_runs")
	sqlActsAllOfUnits  = load("acts_all_of_units")
	sqlLinksAllOfUnits = load("links_all_of_units")
	sqlStepsAllOfUnits = load("steps_all_of_units")
	sqlFactsAllOfUnits = load("facts_all_of_units")
	sqlLogsAllOfUnits  = load("logs_all_of_units")
	sqlMovedDone       = load("moved_done")
	sqlMovedUnits      = load("moved_units")
	sqlTenants         = load("tenants")
	sqlKeysOfUnits     = load("keys_of_units")
	sqlMessagesOfUnits = load("messages_of_units")
	sqlFindingsMove    = load("findings_move")
	sqlFindingsMoved   = load("findings_moved")
	sqlBodiesOfUnits   = load("bodies_of_units")
	sqlHeldCopy        = load("held_copy")
	sqlHeldMissing     = load("held_missing")
	sqlHeldCount       = load("held_count")
	sqlHeldDrop        = load("held_drop")
	sqlHeldUnits       = load("held_units")
	sqlHolds           = load("holds")
	sqlUnitsOfJob      = load("units_of_job")
	sqlUnitsMatching   = load("units_matching")
	sqlUnitsChanged    = load("units_changed")
	sqlUnitsJoined     = load("units_joined")

	sqlErasures       = load("erasures")
	sqlErasedChanged  = load("erased_changed")
	sqlErasedUnits    = load("erased_units")
	sqlErasedKept     = load("erased_kept")
	sqlRemovals       = load("removals")
	sqlRowsOfNames    = load("rows_of_names")
	sqlToErase        = load("to_erase")
	sqlErase          = load("erase")
	sqlLogsOfUnits    = load("logs_of_units")
	sqlRunsOfUnits    = load("runs_of_units")
	sqlEndedHolds     = load("ended_holds_of_units")
	sqlForgetSubject  = load("forget_subject")
	sqlForgetNotes    = load("forget_notes")
	sqlForgetHolds    = load("forget_holds")
	sqlServerTime     = load("server_time")
	sqlInactiveParts  = load("inactive_parts")
	sqlKeepPartsShort = load("keep_parts_short")
	sqlKeepPartsAsSet = load("keep_parts_as_set")
	sqlClearParts     = load("clear_parts")
)

// maxURLBytes bounds the values that one statement carries: they travel in a
// request's URL, which servers limit to a megabyte.
const maxURLBytes = 200_000

// chunks calls f with pieces of values that fit into a statement.
func chunks(values []string, f func(part []string) error) error {
	for len(values) > 0 {
		n, size := 0, 0
		for n < len(values) && (n == 0 || size+3*len(values[n])+12 < maxURLBytes) {
			size += 3*len(values[n]) + 12
			n++
		}
		if err := f(values[:n]); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}
