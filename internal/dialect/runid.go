package dialect

// The names under which dialects state a run's id, strongest first (span
// conventions, "Explicit run id"). agent.run.id goes before all of them and is
// read elsewhere; the policy's own keys stand before the last.
const (
	rankPydantic = iota
	rankVertex
	rankAgno
	rankCrewAI
	rankTemporal
	rankTemporalTS
	rankPolicy
	rankLangSmith = rankPolicy + maxRunKeys
	noRun         = rankLangSmith + 1
)

// maxRunKeys is how many keys of the policy are ranked among themselves; those
// behind share the last rank.
const maxRunKeys = 64

func rankOf(k string, runKeys []string) int {
	switch k {
	case "gen_ai.agent.call.id":
		return rankPydantic
	case "gcp.vertex.agent.invocation_id":
		return rankVertex
	case "agno.run.id":
		return rankAgno
	case "crewai.execution_uuid":
		return rankCrewAI
	case "temporalRunID":
		return rankTemporal
	case "langsmith.trace.id":
		return rankLangSmith
	}
	for i, key := range runKeys {
		if key == k {
			return rankPolicy + min(i, maxRunKeys-1)
		}
	}
	return noRun
}
