package worker

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hibiken/asynq"

	"ushuru/pkg/jobs"
	"ushuru/tasks"
)

// Redis has gone back by some seconds: the run that had stored the output of the scrape
// stores that of the match in a record that has lost the former. The next step waits
// for the scrape, without using up retries, and its task comes with the scrape's output.
func TestAStepWaitsForOutputsThatWereLost(t *testing.T) {
	t.Parallel()
	rig := newHandlerRig(t, fails(nil))
	ran := 0
	rig.steps.run[tasks.TypeCalculate] = func(context.Context, *jobs.Job) (any, error) {
		ran++
		return map[string]int{"total": 1}, nil
	}
	if _, _, err := rig.store.Claim(t.Context(), rig.job.ID, tasks.StepScrape, 1, "w", "lost"); err != nil {
		t.Fatal(err)
	}
	if _, err := rig.store.Complete(t.Context(), rig.job.ID, tasks.StepMatch, json.RawMessage(`{}`), "", "", tasks.StepCalculate); err != nil {
		t.Fatal(err)
	}
	calculate := func() error {
		payload, err := json.Marshal(tasks.TaskPayload{Job: rig.job.ID, Step: tasks.StepCalculate, Attempt: 1})
		if err != nil {
			t.Fatal(err)
		}
		return rig.steps.ProcessTask(t.Context(), asynq.NewTask(tasks.TypeCalculate, payload))
	}
	if err := calculate(); err != nil || ran != 0 {
		t.Fatalf("%v, ran %d times", err, ran)
	}
	if step := rig.record().Steps[tasks.StepCalculate]; step.State != jobs.StepReady || step.Retries != 0 || step.Attempt != 1 {
		t.Errorf("%+v", step)
	}
	if _, err := rig.steps.engine.Complete(t.Context(), rig.record(), tasks.StepScrape, json.RawMessage(`{}`), tasks.Run{}); err != nil {
		t.Fatal(err)
	}
	if waiting, err := rig.queue.ListPendingTasks(tasks.QueueAuthority); err != nil || len(waiting) != 1 {
		t.Errorf("%d tasks of the step, %v", len(waiting), err)
	}
	if err := calculate(); err != nil || ran != 1 || rig.record().State != jobs.Succeeded {
		t.Errorf("%v, ran %d times, %s", err, ran, rig.record().State)
	}
}
