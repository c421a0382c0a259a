package dialect_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/dialect"
)

// Spans that are made to cost much cost about as much as others of their size.
func TestHostileSpansAreReadInOnePiece(t *testing.T) {
	const many = 10_000
	deep := strings.Repeat(`{"output":`, many) + `1` + strings.Repeat(`}`, many)
	for name, fill := range map[string]func(put func(k, v string)){
		"flattened backwards": func(put func(k, v string)) {
			for i := many; i > 0; i-- {
				put("llm.input_messages."+strconv.Itoa(i)+".message.content", "x")
			}
		},
		"one field of each message": func(put func(k, v string)) {
			for i := range many {
				put("llm.output_messages."+strconv.Itoa(i*99_991)+".message.tool_calls."+strconv.Itoa(many-i)+".tool_call.id", "c")
			}
		},
		"deep bodies": func(put func(k, v string)) {
			put("input.value", `{"messages":`+strings.Repeat("[", many)+strings.Repeat("]", many)+`}`)
			put("output.value", deep)
			put("metadata", deep)
			put("llm.invocation_parameters", deep)
		},
		"a long body": func(put func(k, v string)) {
			put("input.value", `{"messages":[`+strings.Repeat(`{"lc":1,"id":["HumanMessage"],"kwargs":{"content":"x"}},`, many)+`1]}`)
			put("output.value", `{"generations":[`+strings.Repeat(`[{"text":"x"}],`, many)+`[]]}`)
		},
	} {
		for _, kind := range []string{"LLM", "TOOL", "AGENT"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				span := ptrace.NewSpan()
				at := span.Attributes()
				at.PutStr("openinference.span.kind", kind)
				size := 0
				fill(func(k, v string) {
					e := at.PutEmpty(k)
					e.SetStr(v)
					size += len(k) + len(v)
				})
				var n dialect.Normalizer
				var st canon.Stated
				allocs := testing.AllocsPerRun(1, func() {
					work := ptrace.NewSpan()
					span.CopyTo(work)
					n.Normalize("openinference.instrumentation.langchain", work, &st)
				})
				require.Less(t, int(allocs), 1_000+3*many, "%d bytes", size)
				require.Equal(t, "openinference", st.Dialect)
			})
		}
	}
}
