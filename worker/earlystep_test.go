package worker

import (
	"context"
	"testing"

	"ushuru/pkg/jobs"
	"ushuru/pkg/tra"
	"ushuru/tasks"
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
		rig.steps.early = earlySteps(func(_ context.Context, job *jobs.Job) (any, error) {
			if _, matched := job.Outputs[tasks.StepMatch]; !matched {
				t.Errorf("%s: the output of the match is missing", name)
			}
			return map[string]int{"total": 1}, c.err
		})
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
