package await

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

// CachedResult returns a cached result; nil when there is none.
func (k *Work) CachedResult(parent context.Context, key cache.Key) ([]byte, error) {
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	cached, err := k.options.Cache.Get(ctx, key)
	switch {
	case errors.Is(err, cache.ErrMiss):
		return nil, nil
	case err != nil:
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	return cached, nil
}

// CachedOutcome returns a cached result as the outcome of a request; it is empty when
// there is none.
func (k *Work) CachedOutcome(ctx context.Context, key cache.Key) (Outcome, error) {
	result, err := k.CachedResult(ctx, key)
	if result == nil {
		return Outcome{}, err
	}
	return Outcome{Result: result, cacheKey: key}, nil
}

// announced returns the outcome of a request as that of a job, when the caller prefers
// respond-async and has a webhook for the ends of jobs: an outcome that was known before is
// announced as one that had to wait. The response names the job as the event does.
func (k *Work) announced(w http.ResponseWriter, r *http.Request, kind string, input any, found Outcome) (Outcome, error) {
	isKnown := found.Result != nil || found.Job != nil && found.Job.State.Ended()
	if !isKnown || found.replayed || !PreferenceOf(r.Header, k.options.WaitMax).async {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	rec := respond.RecorderOf(r)
	hooks, err := k.options.Webhooks.List(ctx, rec.Key.ID)
	if err != nil {
		return found, respond.ErrUnavailable.WithCause(err)
	}
	if !slices.ContainsFunc(hooks, func(e webhook.Endpoint) bool {
		return e.Disabled == "" && slices.Contains(e.Events, webhook.JobCompleted)
	}) {
		return found, nil
	}
	view := ViewOf(rec, kind)
	requester := tasks.Requester{Owner: rec.Key.ID, Class: jobs.Interactive, Query: view.Query()}
	if found.Job != nil {
		err = k.options.Tasks.NotifyRequester(ctx, found.Job, requester)
	} else {
		if err := k.options.Limits.CheckRate(w, r); err != nil {
			return found, err
		}
		if err := k.options.Limits.Keep(w, r, quota.Kept{Size: jobs.RecordBytes, TTL: recordTTL}); err != nil {
			return found, err
		}
		found.Job, err = k.options.Tasks.SubmitResult(ctx, kind, input, requester, found.Result)
		found.Result, found.WasCached = nil, true
	}
	if err != nil {
		return found, respond.ErrUnavailable.WithCause(err)
	}
	if found.Job.State.Ended() {
		w.Header().Set("Location", view.At(Path(found.Job.ID)))
	}
	return found, nil
}
