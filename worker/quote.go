package worker

import (
	"errors"

	"ushuru/pkg/match"
	"ushuru/pkg/vehicle"
)

// refusedRequest is a refusal to match in the words of a quote.
func refusedRequest(err error) error {
	refused, ok := errors.AsType[*match.Error](err)
	if !ok {
		return err
	}
	worded := *refused
	worded.Message = vehicle.OfRequest(refused.Message)
	return &worded
}

// matchedRequest is a match in the words of a quote.
func matchedRequest(matched vehicle.Matched) vehicle.Matched {
	matched.MatchReason = vehicle.OfRequest(matched.MatchReason)
	adjustments := make([]vehicle.Adjustment, 0, len(matched.Adjustments))
	for _, a := range matched.Adjustments {
		a.Reason = vehicle.OfRequest(a.Reason)
		adjustments = append(adjustments, a)
	}
	matched.Adjustments = adjustments
	return matched
}
