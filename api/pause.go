package api

import (
	"context"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing"
	"ushuru/tasks"
)

// checkPause tells a person at once that the site of a listing has asked all
// workers to pause, and until when. A job would wait for that, or end with the
// same error. A page that the caller sent needs no site.
func (s *Server) checkPause(parent context.Context, input tasks.EstimateInput) error {
	if input.Page != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	pause, err := fetch.PauseOf(ctx, s.options.Redis, listing.FetchURL(input.URL))
	if err != nil {
		return errUnavailable.withCause(err)
	}
	if paused := tasks.SitePaused(pause, tasks.OfferPage, nil); paused != nil {
		return problemOf(tasks.JobError(paused))
	}
	return nil
}
