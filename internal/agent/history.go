package agent

// The types in which the store hands out history and takes back what was
// derived from it. They stand here because both sides know this package and
// neither may know the other.

// UnitID names a unit of a tenant.
type UnitID struct {
	Tenant string
	Unit   string
}

// Change says that rows of a unit were inserted.
type Change struct {
	UnitID
	InsertedAt int64 // Unix nanoseconds, the newest insert
	Rows       int64
}

// Group is a connected set of units: all that may belong to one run or to runs
// that share traces.
type Group struct {
	Tenant      string
	Units       []string // sorted
	Input       Input
	LastArrival int64 // Unix nanoseconds, the newest insert of any of its units
	Truncated   bool  // the set was larger than the store's bound; what is here is whole units
}

// RunLink says that a run has spans in a unit, or that it no longer has.
type RunLink struct {
	Tenant string
	Unit   string
	Run    string
	Gone   bool
}

// StoredFinding is a finding as the store has it.
type StoredFinding struct {
	Finding
	Version uint64 // 0 from the stream, the sweep's time from the sweep
}

// KeptContent are spans whose bodies are kept longer than they were written for.
type KeptContent struct {
	Step  *Step
	Until int64 // Unix seconds
}

// Derived is what a sweep writes down, all under one version.
type Derived struct {
	Runs      []*Run // for the attempts table
	Summaries []Summary
	Acts      []Act
	GoneActs  []Act // acts that are no longer acts, or that another span names now
	GoneRuns  []GoneRun
	Links     []RunLink
	Findings  []Finding
}

// GoneRun is a run that later evidence took into another one.
type GoneRun struct {
	Tenant     string
	RunID      string
	MergedInto string
}
