package worker

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/metrics"
	"ushuru/pkg/tra"
	"ushuru/pkg/trace"
	"ushuru/tasks"
)

// An estimate of a vehicle whose tax is cached is calculated by the worker that matched it, so that
// no task of it goes to the role authority, which may be at the end of a long line.

// fallback runs the step calculate, which waits for a worker of the role authority, while none can
// ask TRA's calculator, when all that it needs is cached, expired or not: such a step was
// enqueued before the outage, and perhaps for a worker whose line is cut. The rows of
// a step that must wait give up their places.
func (s *stepHandler) fallback(ctx context.Context, job *jobs.Job, step string) (json.RawMessage, bool) {
	if step != tasks.StepCalculate || s.outages.Now(ctx).Reason == "" {
		return nil, false
	}
	output, err := s.runStep(ctx, job.Kind+":"+step, s.known, job)
	if err != nil {
		s.parkRows(ctx, job, sweptAgain)
		return nil, false
	}
	countStep(s.metrics, job, step, metrics.Completed, "", 0)
	return output, true
}

// sweptAgain is how soon the sweeper looks again at a job of a batch.
const sweptAgain = 10 * time.Second

// runEarly runs the step calculate at once after the step match. It returns nil after another step,
// or when the step fails for whatever reason: then its own task decides.
func (s *stepHandler) runEarly(ctx context.Context, run *stepRun, output json.RawMessage) []tasks.StepOutput {
	if run.step != tasks.StepMatch || s.known == nil {
		return nil
	}
	after, taskType := *run.job, run.job.Kind+":"+tasks.StepCalculate
	after.Outputs = maps.Clone(run.job.Outputs)
	after.Outputs[run.step] = output
	ctx, span := trace.Start(ctx, trace.Internal, taskType, "ushuru.job", after.ID, "ushuru.step", tasks.StepCalculate)
	result, err := s.runStep(ctx, taskType, s.known, &after)
	span.End(nil) // that it needs the authority is no failure
	if err != nil {
		if !errors.Is(err, tra.ErrNotKnown) {
			s.log.DebugContext(ctx, "early step left to its task", "step", tasks.StepCalculate, "error", err)
		}
		return nil
	}
	return []tasks.StepOutput{{Step: tasks.StepCalculate, Output: result}}
}
