package worker

import (
	"context"

	"ushuru/pkg/trace"
)

// beginSpan begins the span of one run of a step, in the trace of the request that caused
// the job, and records how long the first step waited in the queue.
func (s *stepHandler) beginSpan(ctx context.Context, run stepRun) (context.Context, *trace.Span) {
	job := run.job
	if len(job.Outputs) == 0 && job.Steps[run.step].Retries == 0 {
		s.traces.Waited(ctx, job.Origin.Trace, job.Created, "queue "+queueOf(run.taskType), "ushuru.job", job.ID)
	}
	return s.traces.Join(ctx, job.Origin.Trace, trace.Consumer, run.taskType, "ushuru.job", job.ID, "ushuru.step", run.step,
		"ushuru.class", string(job.Class), "ushuru.key", job.Owner, "ushuru.request", job.Origin.Request,
		"ushuru.attempt", job.Steps[run.step].Attempt)
}
