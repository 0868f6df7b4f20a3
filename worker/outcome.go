package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/jobs"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/logs"
	"ushuru/pkg/metrics"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/tasks"
)

const (
	initialBackoff = time.Second
	maxBackoff     = 30 * time.Second
	minSnooze      = time.Second // asynq counts in whole seconds
)

// redisAway is how long a step waits that failed because of Redis.
const redisAway = time.Second

// ours are the codes of permanent failures that the operator can do something about: the
// site or the AI refuses this service, not this request, or the authority is ill.
var ours = []string{
	"internal", "listing_blocked", "sheet_blocked", "sheet_reader_unavailable", "ai_failed", "ai_budget_used_up", "no_ai",
	"authority_implausible",
}

// outcome is how a run of a step ended.
type outcome struct {
	state  metrics.Outcome
	output json.RawMessage    // of a step that completed
	early  []tasks.StepOutput // those of the steps that followed at once
	err    error              // of a step that did not complete
	delay  time.Duration      // until it is retried
	// How long the step took, and how long with those that followed.
	took, all time.Duration
}

// judge returns how a run ends that has an error or none, and after which delay it is
// retried, if it is.
func (r *stepRun) judge(ctx context.Context, err error) (metrics.Outcome, time.Duration) {
	delay := backoff(r.job.Steps[r.step].Retries, err)
	switch {
	case err == nil:
		return metrics.Completed, 0
	case errors.Is(err, errJobEnded):
		return metrics.Cancelled, 0
	case r.isFinal(ctx, delay, err):
		return metrics.Failed, 0
	case tasks.IsFailure(err):
		return metrics.Retried, delay
	}
	return metrics.Postponed, delay
}

// isFinal reports whether a retry is useless: the error says so, the job's record
// counts as many retries of the step as are allowed, or the next attempt would
// come after the deadline.
func (r *stepRun) isFinal(ctx context.Context, delay time.Duration, err error) bool {
	if failure, ok := errors.AsType[*tasks.StepError](err); ok && (failure.Permanent || failure.Final) {
		return true
	}
	if ctx.Err() != nil { // the process is stopping, or asynq took the task back: another worker continues
		return false
	}
	if tasks.IsFailure(err) && r.job.Steps[r.step].Retries >= r.policy.MaxRetriesFor(r.job.Class) {
		return true
	}
	return time.Now().Add(delay).After(r.job.Deadline)
}

// backoff is the delay after a failed attempt that was preceded by a number of
// retries. It is not shorter than the side that failed or refused has asked for.
func backoff(retries int, err error) time.Duration {
	if snooze, ok := errors.AsType[*tasks.SnoozeError](err); ok {
		return pace.Jitter(max(snooze.After, minSnooze))
	}
	delay := pace.Backoff{InitialDelay: initialBackoff, MaxDelay: maxBackoff}.Delay(retries+1, err)
	if failure, ok := errors.AsType[*tasks.StepError](err); ok {
		delay = max(delay, failure.After)
	}
	return delay
}

// retryError is a failed step that asynq must deliver again after a delay. The
// delay is in the error because asynq's own retry count starts again when a step
// is requeued; the count of the job's record does not.
type retryError struct {
	delay time.Duration
	cause error
}

// Error is written into asynq's record of the task.
func (e *retryError) Error() string { return logs.Redact(e.cause.Error()) }

func (e *retryError) Unwrap() error { return e.cause }

// retryDelay tells asynq when to deliver a task again.
func retryDelay(retries int, err error, _ *asynq.Task) time.Duration {
	if failed, ok := errors.AsType[*retryError](err); ok {
		return failed.delay
	}
	return backoff(retries, err)
}

// snoozeOutage returns the error of a step as a delay that costs no retry when Redis
// is the reason. Failures of other services come as errors of package tasks.
func snoozeOutage(err error) error {
	if _, ok := errors.AsType[*tasks.StepError](err); ok || !redisx.IsUnavailable(err) {
		return err
	}
	if _, ok := errors.AsType[*tasks.SnoozeError](err); ok {
		return err
	}
	return tasks.Snooze(redisAway, err)
}

// report counts and logs a run of a step.
func (s *stepHandler) report(ctx context.Context, run *stepRun, o outcome) {
	countStep(s.metrics, run.job, run.step, o.state, codeOf(o.err, o.state), o.took)
	for _, made := range o.early {
		countStep(s.metrics, run.job, made.Step, metrics.Completed, "", o.all-o.took)
	}
	step := run.job.Steps[run.step]
	log := s.log.With("duration", o.all, "attempt", step.Attempt)
	switch o.state {
	case metrics.Completed:
		log.DebugContext(ctx, "step completed", "early_steps", len(o.early))
	case metrics.Cancelled:
		log.DebugContext(ctx, "step cancelled: job has ended")
	case metrics.Failed:
		code := tasks.JobError(o.err).Code
		log.Log(ctx, levelOf(o.err), "step failed", "code", code, "retries", step.Retries, "error", o.err)
	case metrics.Retried:
		log.WarnContext(ctx, "step will be retried", "retries", step.Retries, "error", o.err)
	case metrics.Postponed:
		log.DebugContext(ctx, "step will be retried", "retries", step.Retries, "error", o.err)
	}
}

// countStep counts one run of a step. Everything that counts steps does so here, so that
// what the metrics and the console show is the same.
func countStep(counts *metrics.Metrics, job *jobs.Job, step string, outcome metrics.Outcome, code string, took time.Duration) {
	counts.Step(metrics.Step{
		Job: job.ID, Kind: job.Kind, Step: step, Host: pageHostOf(job), Outcome: outcome, Code: code, Took: took,
		Fetches: slices.Contains([]string{tasks.TypeScrape, tasks.TypeSummarize}, job.Kind+":"+step),
	})
}

// Ended counts the end of a job, and logs it: it is the only line at INFO of a job that nothing
// went wrong with.
func Ended(counts *metrics.Metrics, log *slog.Logger, job *jobs.Job) {
	end := metrics.JobEnd{
		Kind: job.Kind, Class: string(job.Class), State: string(job.State), Took: job.Ended.Sub(job.Created),
	}
	if job.Error != nil {
		end.Code = job.Error.Code
	}
	counts.JobEnded(end)
	car := func(name string) string { return jsonobject.Text(job.Outputs[tasks.StepScrape], "car", name) }
	retries := 0
	for _, step := range job.Steps {
		retries += step.Retries
	}
	ctx := logs.With(context.Background(), "job", job.ID, "request", job.Origin.Request, "key", job.Owner, "kind", job.Kind,
		"class", end.Class, "site", pageHostOf(job), "car", strings.TrimSpace(car("make")+" "+car("model")))
	log.InfoContext(ctx, "job ended", "outcome", cmp.Or(end.Code, end.State), "duration", end.Took,
		"steps", len(job.Steps), "retries", retries)
}

// codeOf returns the code of the error of a step; "" for none, and for a step that waits
// for its turn or for the rate of TRA's calculator.
func codeOf(err error, outcome metrics.Outcome) string {
	if err == nil {
		return ""
	}
	if _, said := errors.AsType[*tasks.StepError](err); said || outcome == metrics.Failed {
		return tasks.JobError(err).Code
	}
	switch {
	case redisx.IsUnavailable(err):
		return "unavailable"
	case !tasks.IsFailure(err):
		return ""
	}
	return tasks.JobError(err).Code
}

// pageHostOf returns the host of the page that a job is about; "" when it is about none, or the
// caller has sent the page.
func pageHostOf(job *jobs.Job) string {
	parsed, err := url.Parse(jsonobject.Text(job.Input, "url"))
	if err != nil || jsonobject.Text(job.Input, "page") != "" || jsonobject.Text(job.Input, "upload") != "" {
		return ""
	}
	return parsed.Hostname()
}

// levelOf returns the level at which a failed step is logged: DEBUG when that lies in what
// the caller has asked for, since the end of the job says it, else ERROR.
func levelOf(err error) slog.Level {
	failed, ok := errors.AsType[*tasks.StepError](err)
	if ok && failed.Permanent && !slices.Contains(ours, failed.Code) {
		return slog.LevelDebug
	}
	return slog.LevelError
}
