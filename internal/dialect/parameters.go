package dialect

import (
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/steptrail/steptrail/internal/canon"
	"github.com/steptrail/steptrail/internal/cjson"
)

// parameters are what a JSON object says of a model call's request, in the
// spellings of the SDKs.
type parameters struct {
	model, id                          string
	temperature, topP, maxTokens, seed string // JSON numbers
	isResponse                         bool   // they are those of the response, with its id
}

func readParameters(raw string) parameters {
	var p parameters
	created := false
	sc := cjson.Scan(raw)
	for sc.Object(); sc.Next(); {
		key := sc.Key()
		switch sc.Kind() {
		case cjson.KindString:
			switch key {
			case "model", "model_id", "modelId":
				p.model = sc.Text()
			case "model_name":
				p.model = orElse(p.model, sc.Text())
			case "id":
				p.id = sc.Text()
			}
		case cjson.KindNumber:
			switch key {
			case "temperature":
				p.temperature = sc.Raw()
			case "top_p", "topP":
				p.topP = sc.Raw()
			case "max_tokens", "max_completion_tokens", "max_output_tokens", "maxTokens", "maxOutputTokens":
				p.maxTokens = sc.Raw()
			case "seed":
				p.seed = sc.Raw()
			case "created_at":
				created = true
			}
		default:
		}
	}
	p.isResponse = created && p.id != ""
	return p
}

// put writes them under canonical names, where these are free.
func (p *parameters) put(at pcommon.Map) {
	for _, n := range [...]struct{ key, raw string }{{canon.RequestTemperature, p.temperature}, {canon.RequestTopP, p.topP}} {
		if f, err := strconv.ParseFloat(n.raw, 64); n.raw != "" && err == nil {
			if _, there := at.Get(n.key); !there {
				at.PutDouble(n.key, f)
			}
		}
	}
	for _, n := range [...]struct{ key, raw string }{{canon.RequestMaxTokens, p.maxTokens}, {canon.RequestSeed, p.seed}} {
		if i, err := strconv.ParseInt(n.raw, 10, 64); n.raw != "" && err == nil {
			if _, there := at.Get(n.key); !there {
				at.PutInt(n.key, i)
			}
		}
	}
}
