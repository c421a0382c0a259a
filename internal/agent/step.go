package agent

// Step is what one span states, with what the policy says of its tool. It is
// the row of the store's steps table and the only input, besides message facts
// and log content, from which a run is derived. Strings may share memory with
// the telemetry they were read from; whoever keeps a Step longer clones it.
type Step struct {
	Tenant string
	Unit   string // explicit run id of this span, else its trace id in hex; never changes
	Trace  TraceID
	Span   SpanID
	Parent SpanID

	Name     string // span name
	SpanKind string // internal, client, server, producer, consumer; empty if unset
	Scope    string // instrumentation scope
	Dialect  string // name of the dialect it came in
	Service  string // service.name
	Instance string // service.instance.id, else what tells processes apart
	Start    int64  // Unix nanoseconds, as sent
	End      int64  // Unix nanoseconds, as sent; may lie before Start
	Received int64  // Unix nanoseconds, when the collector took it

	Expires        int64 // Unix seconds, when the row expires by the policy
	ContentExpires int64 // Unix seconds, when its bodies expire; never later than Expires

	// What the span states about its run.
	RunID      string // agent.run.id
	DialectRun string // explicit run id of a dialect
	// DialectRunWeak: DialectRun is a trace id of another system
	// (langsmith.trace.id), which does not stand against joining two units.
	DialectRunWeak bool
	ParentRun      string // agent.run.parent_id
	Session        string
	User           string
	TaskType       string
	Scenario       string
	RunOutcome     RunOutcome
	Escalation     string // agent.escalation.reason

	Agent        string // gen_ai.agent.name
	AgentID      string
	AgentVersion string

	Op          Op
	Kind        Kind // stated or by policy; unset where only evidence or nothing tells
	KindSource  KindSource
	StepID      string // agent.step.id as sent
	DialectStep string // a durable engine's own step identity (Temporal activity id)
	Checkpoint  string // langgraph_checkpoint_ns: names a node's execution, not a call
	Index       int32  // agent.step.index; -1 where unset
	Attempt     int32  // agent.step.attempt; 0 where unset

	Call  Call
	Model Model

	Outcome    Outcome // agent.outcome as stated
	Sign       Sign    // what the span itself shows
	ErrorType  string
	ErrorText  string // status message, else exception message, cut to a bound
	StatusCode int32  // HTTP or three-digit error code the span shows; 0 where none

	// Human and reconcile steps.
	Reconciles      string // agent.reconciles: step id or key
	ReconcileResult Settlement
	Decision        Decision
	Actor           string
	Reason          string

	HandoffTo string // who takes over, on a hand-off
	HTTP      HTTP   // on HTTP spans

	Links []Link
	Rules []string // names of the policy's rules that the span met

	// Facts is what the rules need of the span's content: CallFacts, encoded.
	Facts string

	// Erased: an erasure took the content and whom it was about.
	Erased     bool
	PolicyHash string
	Redacted   int32 // values replaced in this span
	Dropped    int32 // attributes, events and links that SDK or limits dropped

	Attributes []Attr // what no field above holds
	Resource   []Attr // resource and scope attributes that no field above holds
	Events     []Event
}

// Call is what a span states about a tool call or another act.
type Call struct {
	Tool     string
	ID       string // tool call id
	ToolType string
	Effect   Effect
	Target   string // agent.target, else what the policy's template made
	Key      string // idempotency key, stated or by the policy's template
	Gate     Gate

	Arguments     Content
	Result        Content
	ArgumentsSent Digest // keyed hash of the hash of the arguments as sent (agent.call.arguments.hash)
	ResultSent    Digest

	// OutputFunction: the dialect knows the call to be the agent's answer
	// dressed as a tool.
	OutputFunction bool

	// What the policy says of the tool.
	OnUnknown     OnUnknown
	ReconcileWith []string
	Repeatable    bool // running it again is no double effect
	Approval      bool // approval required
	Forbidden     bool
}

// Content is a recorded body: an argument, a result, a model output.
type Content struct {
	State  Recorded
	Digest Digest // comparison hash; zero unless State is RecordedYes
	Ref    Ref    // where the body is stored; zero where it is not kept
	Size   int64  // bytes as sent
}

// Recorded says whether a body was recorded, and whether it can be compared.
// Absent content is equal to nothing and different from nothing.
type Recorded uint8

// Values of Recorded.
const (
	RecordedNot    Recorded = iota // absent
	RecordedOpaque                 // a placeholder, a mask, cut off: not comparable
	RecordedYes                    // comparable
)

// MaxCostNano is the most that one attempt is believed to cost: 100,000 USD. The
// sum of a run's then fits.
const MaxCostNano = 100_000_000_000_000

// Model is what a span states about a model call.
type Model struct {
	Provider      string
	Requested     string // model asked
	Served        string // model that answered
	ResponseID    string
	PromptName    string
	PromptVersion string
	FinishReason  string // several are joined with a comma
	Params        Params
	Tokens        Tokens
	CostNano      int64 // cost of this attempt in 1e-9 USD
	CostSource    CostSource

	Context     []Ref  // input messages in order, system instructions first
	ContextHash Hash   // SHA-256 over the context's bodies, or as sent in agent.context.hash
	ContextURI  string // agent.context.ref
	Input       Digest // comparison hash of the input messages; zero where not recorded
	Output      Digest // comparison hash of the output messages; zero where not recorded
	Outputs     []Ref  // output messages in order
}

// Params are the sampling parameters of a model call. A nil pointer is unset.
type Params struct {
	Temperature *float64
	TopP        *float64
	MaxTokens   *int64
	Seed        *int64
}

// Tokens counts a model call's tokens, normalised so that nothing is counted
// twice: Input includes CacheRead and CacheWrite, Output includes Reasoning.
// Known says whether any usage was reported at all.
type Tokens struct {
	Known      bool
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64
	Reasoning  int64
}

// Total is Input plus Output.
func (t Tokens) Total() int64 { return t.Input + t.Output }

// Add gives the sum of both, Known if either is.
func (t Tokens) Add(o Tokens) Tokens {
	return Tokens{
		Known: t.Known || o.Known, Input: t.Input + o.Input, Output: t.Output + o.Output,
		CacheRead: t.CacheRead + o.CacheRead, CacheWrite: t.CacheWrite + o.CacheWrite, Reasoning: t.Reasoning + o.Reasoning,
	}
}

// HTTP is what an HTTP span states.
type HTTP struct {
	Method string // upper case
	URL    string // full URL, else path, without query and fragment
	Key    string // idempotency-key request header
}

// Link is a span link.
type Link struct {
	Trace TraceID
	Span  SpanID
}

// Attr is an attribute that is kept as it came. Values that are no strings are
// JSON, and JSON says so.
type Attr struct {
	Key   string
	Value string
	JSON  bool
}

// Event is a span event that is kept as it came.
type Event struct {
	Time       int64 // Unix nanoseconds
	Name       string
	Attributes []Attr
}

// Explicit is the explicit run id that the span states, empty if none: the
// user's own first, then the dialect's.
func (s *Step) Explicit() string {
	if s.RunID != "" {
		return s.RunID
	}
	return s.DialectRun
}

// Less orders spans by start, end, trace and span id: the order of attempts.
func (s *Step) Less(o *Step) bool {
	switch {
	case s.Start != o.Start:
		return s.Start < o.Start
	case s.End != o.End:
		return s.End < o.End
	case s.Trace != o.Trace:
		return s.Trace.Compare(o.Trace) < 0
	default:
		return s.Span.Compare(o.Span) < 0
	}
}
