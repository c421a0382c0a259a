package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/canon"
)

// The prefixes under which clients put what an application says of its run:
// keys that the application chose, and those of LangGraph.
var metadataPrefixes = [...]string{"ai.telemetry.metadata.", "ai.settings.context.", "traceloop.association.properties.", "mastra.metadata."}

// metadataKey gives the application's key of such an attribute.
func metadataKey(k string) (string, bool) {
	for _, p := range metadataPrefixes {
		if key, ok := strings.CutPrefix(k, p); ok {
			return key, true
		}
	}
	return "", false
}

// metadata is what an application, or LangGraph under it, says of its run.
type metadata struct {
	session, user   string
	agent           string // the agent in whose graph it runs
	node            string // of a graph; empty on the graph itself
	checkpoint      string // names the node's execution
	integration     string // what kind of graph or chain it is
	model, provider string // asked of a model
	readOnly        bool   // a tool's annotation says that it only reads
	rank            int    // of the name that the session came under
}

const noSession = 3

// read takes one key. A session goes under its own name first, then as a thread,
// then as a conversation.
func (m *metadata) read(key, value string) {
	rank := noSession
	switch key {
	case "sessionId", "session_id", "session.id":
		rank = 0
	case "threadId", "thread_id":
		rank = 1
	case "conversationId", "conversation_id", "chatId", "chat_id":
		rank = 2
	case "userId", "user_id", "user.id":
		m.user = value
	case "lc_agent_name":
		m.agent = value
	case "langgraph_node":
		m.node = value
	case "langgraph_checkpoint_ns":
		m.checkpoint = value
	case "ls_integration":
		m.integration = value
	case "ls_model_name":
		m.model = value
	case "ls_provider":
		m.provider = value
	}
	if rank < m.rank && value != "" {
		m.session, m.rank = value, rank
	}
}

// takeMetadata gives what applications say under a client's prefix its canonical
// place, where nothing stands there yet.
func takeMetadata(at pcommon.Map, m *metadata, st *canon.Stated) {
	for k, v := range at.All() {
		if key, ok := metadataKey(k); ok {
			m.read(key, text(v))
		}
	}
	st.Checkpoint = m.checkpoint
	if _, there := at.Get(canon.ConversationID); !there {
		putNew(at, canon.SessionID, m.session)
	}
	putNew(at, canon.UserID, m.user)
	putNew(at, canon.AgentName, m.agent)
}
