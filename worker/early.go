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

// earlyStep is a step that can run in the task of the step before it, when all that it
// needs is cached. Its function returns tra.ErrNotKnown when something is not.
type earlyStep struct {
	step     string
	taskType string
	run      stepFunc
}

// earlySteps returns what follows a match: an estimate of a vehicle whose tax is
// cached is calculated by the worker that matched it, so that no task of it goes to
// the role authority, which may be at the end of a long line.
func earlySteps(calculateKnown stepFunc) map[string]earlyStep {
	return map[string]earlyStep{
		tasks.TypeMatch:      {tasks.StepCalculate, tasks.TypeCalculate, calculateKnown},
		tasks.TypeQuoteMatch: {tasks.StepCalculate, tasks.TypeQuoteCalculate, calculateKnown},
	}
}

// fallback runs a step that waits for a worker of the role authority, while none can ask
// TRA's calculator, when all that it needs is cached, expired or not: such a step was
// enqueued before the outage, and perhaps for a worker whose line is cut. The rows of
// a step that must wait give up their places.
func (s *stepHandler) fallback(ctx context.Context, job *jobs.Job, step string) (json.RawMessage, bool) {
	if s.outages.Now(ctx).Reason == "" {
		return nil, false
	}
	for _, early := range s.early {
		if early.taskType != job.Kind+":"+step {
			continue
		}
		output, err := s.runStep(ctx, early.taskType, early.run, job)
		if err != nil {
			s.parkRows(ctx, job, sweptAgain)
		} else {
			countStep(s.metrics, job, step, metrics.Completed, "", 0)
		}
		return output, err == nil
	}
	return nil, false
}

// sweptAgain is how soon the sweeper looks again at a job of a batch.
const sweptAgain = 10 * time.Second

// runEarly runs the step that may follow at once. It returns nil when there is
// none, or when the step fails for whatever reason: then its own task decides.
func (s *stepHandler) runEarly(ctx context.Context, run *stepRun, output json.RawMessage) []tasks.StepOutput {
	early, ok := s.early[run.taskType]
	if !ok {
		return nil
	}
	after := *run.job
	after.Outputs = maps.Clone(run.job.Outputs)
	after.Outputs[run.step] = output
	ctx, span := trace.Start(ctx, trace.Internal, early.taskType, "ushuru.job", after.ID, "ushuru.step", early.step)
	result, err := s.runStep(ctx, early.taskType, early.run, &after)
	span.End(nil) // that it needs the authority is no failure
	if err != nil {
		if !errors.Is(err, tra.ErrNotKnown) {
			s.log.DebugContext(ctx, "early step left to its task", "step", early.step, "error", err)
		}
		return nil
	}
	return []tasks.StepOutput{{Step: early.step, Output: result}}
}
