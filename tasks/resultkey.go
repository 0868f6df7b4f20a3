package tasks

import (
	"encoding/json"
	"fmt"

	"ushuru/pkg/cache"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// ResultKey returns the cache key of the result for an input, "" for a kind whose
// results are not cached under their input alone.
func ResultKey(kind string, input json.RawMessage) (cache.Key, error) {
	var err error
	switch kind {
	case KindEstimate:
		var request EstimateInput
		if err = json.Unmarshal(input, &request); err == nil {
			return request.Key(), nil
		}
	case KindQuote:
		var request vehicle.QuoteInput
		if err = json.Unmarshal(input, &request); err == nil {
			return QuoteKey(request)
		}
	case KindReport:
		var request ReportInput
		if err = json.Unmarshal(input, &request); err == nil {
			return cache.ReadingKey(request.ID()), nil
		}
	default:
		return "", nil
	}
	return "", fmt.Errorf("tasks: input of a job of the kind %s: %w", kind, err)
}

// Key returns the cache key of the estimate. A label or values that the caller
// chose are part of it, so that they never change the estimate of others.
func (i EstimateInput) Key() cache.Key {
	choice := i.ModelBody
	if i.Known != nil {
		known, err := plainjson.Encode(i.Known)
		if err != nil {
			panic(fmt.Errorf("tasks: known values: %w", err)) // our own type
		}
		choice += "\x00" + string(known)
	}
	return cache.LabelKey(i.PageKey(), choice)
}

// PageKey returns the cache key of what belongs to the page alone, without the
// caller's choice.
func (i EstimateInput) PageKey() cache.Key {
	return cache.OwnedKey(cache.UploadKey(i.URL, i.Page), i.Owner)
}

// QuoteKey returns the cache key of the estimate of a described car. The
// description must be in canonical form.
func QuoteKey(request vehicle.QuoteInput) (cache.Key, error) {
	request.PriceCandidates = false // it changes errors, not results
	input, err := plainjson.Encode(request)
	return cache.QuoteKey(input), err
}
