package tasks

import (
	"encoding/json"
	"fmt"

	"ushuru/pkg/cache"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// ResultKey is where the answer to a question is kept once it is known; "" for
// a kind whose answers are not kept.
func ResultKey(kind string, input json.RawMessage) (cache.Key, error) {
	var err error
	switch kind {
	case KindEstimate:
		var asked EstimateInput
		if err = json.Unmarshal(input, &asked); err == nil {
			return asked.Key(), nil
		}
	case KindQuote:
		var asked vehicle.QuoteInput
		if err = json.Unmarshal(input, &asked); err == nil {
			return QuoteKey(asked)
		}
	case KindReport:
		var asked ReportInput
		if err = json.Unmarshal(input, &asked); err == nil {
			return cache.ReadingKey(asked.ID()), nil
		}
	default:
		return "", nil
	}
	return "", fmt.Errorf("tasks: input of a job of the kind %s: %w", kind, err)
}

// Key is where the estimate is kept.
func (i EstimateInput) Key() cache.Key {
	return cache.LabelKey(cache.UploadKey(i.URL, i.Page), i.ModelBody)
}

// QuoteKey is where the estimate of a described car is kept. The description
// must be in canonical form.
func QuoteKey(asked vehicle.QuoteInput) (cache.Key, error) {
	input, err := plainjson.Encode(asked)
	return cache.QuoteKey(input), err
}
