package worker

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/tra"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

// A vehicle whose tax is known is calculated where it was matched: no task of it
// goes to the role authority. One that is not known gets its task.
func TestAKnownVehicleIsCalculatedInPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		state jobs.State
		tasks int // of the role authority
	}{
		"known":     {nil, jobs.Succeeded, 0},
		"not known": {tra.ErrNotKnown, jobs.Running, 1},
	} {
		rig := newHandlerRig(t, fails(nil))
		rig.steps.run[tasks.TypeMatch] = fails(nil)
		rig.steps.known = func(_ context.Context, job *jobs.Job) (any, error) {
			if _, matched := job.Outputs[tasks.StepMatch]; !matched {
				t.Errorf("%s: the output of the match is missing", name)
			}
			return map[string]int{"total": 1}, c.err
		}
		job, err := rig.process()
		if err != nil || job.State != c.state {
			t.Errorf("%s: %s, %v", name, job.State, err)
		}
		if c.err == nil && string(job.Result) != `{"total":1}` {
			t.Errorf("%s: result %s", name, job.Result)
		}
		waiting, err := rig.queue.ListPendingTasks(tasks.QueueAuthority)
		if len(waiting) != c.tasks {
			t.Errorf("%s: %d tasks for the authority, %v", name, len(waiting), err)
		}
	}
}

// A step that was enqueued for a worker of the role authority is made of what is cached
// when none can be expected to run it, and only then.
func TestAWaitingStepFallsBackToWhatIsCached(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		err    error
		state  jobs.State
	}{
		"TRA can be asked":       {"", nil, jobs.Running},
		"away and known":         {tra.ReasonNoWorker, nil, jobs.Succeeded},
		"away and not known":     {tra.ReasonNoWorker, tra.ErrNotKnown, jobs.Running},
		"away and another fault": {tra.ReasonNoWorker, errors.New("a bug"), jobs.Running},
	} {
		rig := newHandlerRig(t, fails(nil))
		rig.steps.run[tasks.TypeMatch] = fails(nil)
		if job, err := rig.process(); err != nil || job.Steps[tasks.StepCalculate].State != jobs.StepReady {
			t.Fatalf("%s: %+v, %v", name, job, err)
		}
		rig.steps.known = func(context.Context, *jobs.Job) (any, error) { return map[string]int{"total": 1}, c.err }
		rig.steps.outages = tra.NewOutages(func(context.Context) (tra.Status, error) {
			return tra.Status{Outage: tra.Outage{Reason: c.reason}}, nil
		})
		sweeper := enginetest.NewEngine(rig.client, func(o *tasks.Options) { o.Fallback = rig.steps.fallback })
		due := redis.Z{Member: rig.job.ID} // long ago
		if err := rig.client.ZAdd(t.Context(), "jobs:active:interactive", due).Err(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := sweeper.Sweep(t.Context(), jobs.Interactive, func() bool { return true }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		job := rig.record()
		if job.State != c.state || c.state == jobs.Succeeded && string(job.Result) != `{"total":1}` {
			t.Errorf("%s: %s, %s", name, job.State, job.Result)
		}
	}
}
