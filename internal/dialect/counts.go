package dialect

import (
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// putUsage takes token counts out of a JSON object in the names of OpenAI's two
// APIs, Anthropic's and LangChain's. A part of 0 says nothing that its absence
// does not.
func putUsage(at pcommon.Map, usage string) {
	sc := cjson.Scan(usage)
	for sc.Object(); sc.Next(); {
		if key := usageName(sc.Key()); key != "" {
			putCount(at, key, sc.Raw())
			continue
		}
		switch sc.Key() {
		case "prompt_tokens_details", "completion_tokens_details", "input_tokens_details", "output_tokens_details",
			"input_token_details", "output_token_details":
			for sc.Object(); sc.Next(); {
				if key, n := usagePart(sc.Key()), sc.Raw(); key != "" && n != "0" {
					putCount(at, key, n)
				}
			}
		}
	}
}

func usageName(k string) string {
	switch k {
	case "input_tokens", "prompt_tokens":
		return canon.InputTokens
	case "output_tokens", "completion_tokens":
		return canon.OutputTokens
	case "cache_read_input_tokens":
		return canon.CacheReadTokens
	case "cache_creation_input_tokens":
		return canon.CacheWriteTokens
	}
	return ""
}

func usagePart(k string) string {
	switch k {
	case "cached_tokens", "cache_read":
		return canon.CacheReadTokens
	case "cache_write_tokens", "cache_creation":
		return canon.CacheWriteTokens
	case "reasoning_tokens", "reasoning":
		return canon.ReasoningTokens
	}
	return ""
}

// putCount writes a JSON number that is whole, under a name that is free.
func putCount(at pcommon.Map, key, raw string) {
	if n, err := strconv.ParseInt(raw, 10, 64); err == nil {
		if _, there := at.Get(key); !there {
			at.PutInt(key, n)
		}
	}
}

// number reads a JSON number that is a count; 0 for anything else.
func number(raw string) int64 {
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return 0
	}
	return n
}

// tally reads a number of things; 0 for anything else, and for what is negative or
// beyond any count of tokens.
func tally(v pcommon.Value) int64 {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		if n := v.Int(); n > 0 && n < 1<<40 {
			return n
		}
	case pcommon.ValueTypeDouble:
		if f := v.Double(); f > 0 && f < 1<<40 {
			return int64(f)
		}
	}
	return 0
}

// maxAttempts is the most attempts that a span is believed to count.
const maxAttempts = 255

// withoutZeroCost removes a cost of nothing: that of a stream that was left, which
// is no cost that anybody knows.
func withoutZeroCost(at pcommon.Map) {
	v, ok := at.Get(canon.CostUSD)
	if ok && (v.Type() == pcommon.ValueTypeDouble && v.Double() == 0 || v.Type() == pcommon.ValueTypeInt && v.Int() == 0) {
		at.Remove(canon.CostUSD)
	}
}
