package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"ushuru/api/respond"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/quota"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// cachedResult returns a cached result; nil when there is none.
func (s *Server) cachedResult(parent context.Context, key cache.Key) ([]byte, error) {
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	cached, err := s.options.Cache.Get(ctx, key)
	switch {
	case errors.Is(err, cache.ErrMiss):
		return nil, nil
	case err != nil:
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	return cached, nil
}

// cachedOutcome returns a cached result as the outcome of a request; it is empty when
// there is none.
func (s *Server) cachedOutcome(ctx context.Context, key cache.Key) (outcome, error) {
	result, err := s.cachedResult(ctx, key)
	if result == nil {
		return outcome{}, err
	}
	return outcome{result: result, cacheKey: key}, nil
}

// announced returns the outcome of a request as that of a job, when the caller prefers
// respond-async and has a webhook for the ends of jobs: an outcome that was known before is
// announced as one that had to wait. The response names the job as the event does.
func (s *Server) announced(w http.ResponseWriter, r *http.Request, kind string, input any, found outcome) (outcome, error) {
	isKnown := found.result != nil || found.job != nil && found.job.State.Ended()
	if !isKnown || found.replayed || !preferenceOf(r.Header, s.options.WaitMax).async {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	rec := respond.RecorderOf(r)
	hooks, err := s.options.Webhooks.List(ctx, rec.Key.ID)
	if err != nil {
		return found, respond.ErrUnavailable.WithCause(err)
	}
	if !slices.ContainsFunc(hooks, func(e webhook.Endpoint) bool {
		return e.Disabled == "" && slices.Contains(e.Events, webhook.JobCompleted)
	}) {
		return found, nil
	}
	view := viewOf(rec, kind)
	requester := tasks.Requester{Owner: rec.Key.ID, Class: jobs.Interactive, Query: view.Query()}
	if found.job != nil {
		err = s.options.Tasks.NotifyRequester(ctx, found.job, requester)
	} else {
		if err := s.limits.CheckRate(w, r); err != nil {
			return found, err
		}
		if err := s.limits.Keep(w, r, quota.Kept{Size: jobs.RecordBytes, TTL: recordTTL}); err != nil {
			return found, err
		}
		found.job, err = s.options.Tasks.SubmitResult(ctx, kind, input, requester, found.result)
		found.result, found.wasCached = nil, true
	}
	if err != nil {
		return found, respond.ErrUnavailable.WithCause(err)
	}
	if found.job.State.Ended() {
		w.Header().Set("Location", view.At(jobPath(found.job.ID)))
	}
	return found, nil
}
