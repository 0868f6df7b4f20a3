package tasks

import (
	"context"
	"encoding/json"

	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
)

// SubmitResult returns a job that has succeeded with a result that was cached, so that
// the subscribers of a job are notified of it too; the running one, if there is one. When
// this process dies in between, the sweeper has the job make its result.
func (e *Engine) SubmitResult(
	ctx context.Context, kind string, input any, by Requester, result json.RawMessage,
) (*jobs.Job, error) {
	canonical, err := plainjson.Encode(input)
	if err != nil {
		return nil, err
	}
	job, joined, err := e.options.Jobs.Create(ctx, jobs.New{
		Kind: kind, Class: by.Class, Owner: by.Owner, Input: canonical, Deadline: workflows[kind].deadline,
		Subscriber: by.subscriber(), Listed: by.isCaller(), Query: by.Query,
	})
	switch {
	case err != nil:
		return nil, err
	case joined:
		return job, e.NotifyRequester(ctx, job, by)
	}
	ended, err := e.end(ctx, job, jobs.End{State: jobs.Succeeded, Result: result})
	if ended != nil || err != nil {
		return ended, err
	}
	return e.options.Jobs.Get(ctx, job.ID) // the sweeper was here first
}

// NotifyRequester notifies the API key that has requested a job, if the job had ended by
// then: it was not subscribed. Doing so again changes nothing.
func (e *Engine) NotifyRequester(ctx context.Context, job *jobs.Job, by Requester) error {
	if !by.isCaller() || !job.State.Ended() {
		return nil
	}
	return e.notifyKeys(ctx, job, []string{by.subscriber()})
}
