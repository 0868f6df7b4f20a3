package await

import (
	"context"
	"net/http"
	"time"

	"ushuru/api/respond"
	"ushuru/pkg/jobs"
	"ushuru/pkg/quota"
	"ushuru/tasks"
)

// Submit gives work to the engine within the limits of the caller's key, with what the
// caller sent for it, if anything, and returns its job: a new one, or the running one of
// the same kind and input.
func (k *Work) Submit(w http.ResponseWriter, r *http.Request, kind string, input any, attachment []byte) (*jobs.Job, error) {
	return k.SubmitAs(w, r, jobs.Interactive, kind, input, attachment)
}

// SubmitAs is submit for a job of a class.
func (k *Work) SubmitAs(
	w http.ResponseWriter, r *http.Request, class jobs.Class, kind string, input any, attachment []byte,
) (*jobs.Job, error) {
	if err := k.options.Limits.CheckJobs(w, r); err != nil {
		return nil, err
	}
	dedupKey, err := tasks.DedupKey(kind, input)
	if err != nil {
		return nil, err
	}
	if err := k.options.Limits.Keep(w, r, keptFor(kind, dedupKey, attachment)...); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	rec := respond.RecorderOf(r)
	owner := rec.Key.ID
	requester := tasks.Requester{Owner: owner, Class: class, Query: ViewOf(rec, kind).Query(), Attachment: attachment}
	job, err := k.options.Tasks.Submit(jobs.WithOrigin(ctx, rec.Origin()), kind, input, requester)
	if err == nil && attachment != nil && (job.Owner != owner || job.State.Ended()) { // that job does not need it
		err = k.options.Limits.Forget(ctx, owner, jobs.AttachmentName(dedupKey))
	}
	if err != nil {
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	return job, nil
}

// recordTTL is how long the record of a job is kept at most.
const recordTTL = 25 * time.Hour

// keptFor returns what a job of a kind causes to be kept before it has a result: its
// record, and those of the jobs that it needs; what the caller sent.
func keptFor(kind, dedupKey string, attachment []byte) []quota.Kept {
	records := int64(1)
	if kind == tasks.KindCompare {
		records = 5 // two estimates and two reports
	}
	kept := []quota.Kept{{Size: records * jobs.RecordBytes, TTL: recordTTL}}
	if attachment != nil {
		name := jobs.AttachmentName(dedupKey)
		kept = append(kept, quota.Kept{Name: name, Size: int64(len(attachment)) + quota.EntryOverhead, TTL: jobs.AttachmentTTL})
	}
	return kept
}

// Confirm makes sure that what a response acknowledges, with 202 or 201, outlives the
// death of a Redis master, when the operator demands that. The work goes on even if it
// does not; the caller is answered 503 and sends the request again.
func (k *Work) Confirm(parent context.Context) error {
	if k.options.Confirm == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	if err := k.options.Confirm(ctx); err != nil {
		return respond.ErrUnavailable.WithCause(err)
	}
	return nil
}
