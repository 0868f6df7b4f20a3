package tasks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/jobs"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

// states counts the tasks of the queue any by their state.
func states(t *testing.T, rig *enginetest.Rig) (pending, parked int) {
	t.Helper()
	waiting, err := rig.Queues.ListPendingTasks(tasks.QueueAny, asynq.PageSize(1000))
	if err != nil {
		t.Fatal(err)
	}
	delayed, err := rig.Queues.ListScheduledTasks(tasks.QueueAny, asynq.PageSize(1000))
	if err != nil {
		t.Fatal(err)
	}
	return len(waiting), len(delayed)
}

func submitMany(t *testing.T, rig *enginetest.Rig, owner string, n int) (submitted []*jobs.Job) {
	t.Helper()
	for i := range n {
		job, err := rig.Estimate(t.Context(), fmt.Sprintf("https://%s.example/%d", owner, i), owner, jobs.Interactive)
		if err != nil {
			t.Fatal(err)
		}
		submitted = append(submitted, job)
	}
	return submitted
}

func offerTurns(t *testing.T, rig *enginetest.Rig, places int) {
	t.Helper()
	if err := rig.OfferTurns(t.Context(), tasks.QueueAny, "w1", places, time.Second); err != nil {
		t.Fatal(err)
	}
}

func endTurn(t *testing.T, rig *enginetest.Rig, job *jobs.Job) {
	t.Helper()
	if err := rig.EndTurn(t.Context(), tasks.QueueAny, job.Owner, job.ID+".scrape.1"); err != nil {
		t.Fatal(err)
	}
}

func TestTasksOfAKeyWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	rig := enginetest.New(t)
	offerTurns(t, rig, 8)
	many := submitMany(t, rig, "many", 20)
	if pending, parked := states(t, rig); pending != 6 || parked != 14 {
		t.Fatalf("%d tasks in the queue, %d wait for their turn; want 6 and 14", pending, parked)
	}
	submitMany(t, rig, "other", 1)
	if pending, _ := states(t, rig); pending != 7 {
		t.Fatal("the task of another key waits")
	}
	endTurn(t, rig, many[0])
	if pending, parked := states(t, rig); pending != 7 || parked != 14 {
		t.Errorf("%d tasks in the queue, %d wait: with two owners of 8 places the first has enough", pending, parked)
	}
	for _, job := range many[1:4] {
		endTurn(t, rig, job)
	}
	if _, parked := states(t, rig); parked >= 14 {
		t.Error("the end of a turn runs no other task")
	}
	// Batches have their own rule.
	for i := range 20 {
		if _, err := rig.Estimate(t.Context(), fmt.Sprintf("https://bulk.example/%d", i), "many", jobs.Bulk); err != nil {
			t.Fatal(err)
		}
	}
	bulk, err := rig.Queues.GetQueueInfo(tasks.QueueAny + tasks.BulkSuffix)
	if err != nil || bulk.Pending != 20 {
		t.Errorf("%+v, %v", bulk, err)
	}
}

// Who asks for what another key asks for does not wait as long as that key.
func TestJoinerLendsItsTurn(t *testing.T) {
	t.Parallel()
	rig := enginetest.New(t)
	offerTurns(t, rig, 8)
	many := submitMany(t, rig, "many", 20)
	joined, err := rig.Estimate(t.Context(), "https://many.example/19", "victim", jobs.Interactive)
	if err != nil || joined.ID != many[19].ID {
		t.Fatalf("%v, %v", joined, err)
	}
	info, err := rig.Queues.GetTaskInfo(tasks.QueueAny, joined.ID+".scrape.1")
	if err != nil || info.State != asynq.TaskStatePending {
		t.Fatalf("the task that another key joined is %v, %v", info.State, err)
	}
	// The next step, too.
	if err := rig.OfferTurns(t.Context(), tasks.QueueAuthority, "w1", 2, time.Second); err != nil {
		t.Fatal(err)
	}
	for _, job := range []*jobs.Job{many[0], joined} {
		rig.Complete(job.ID, tasks.StepScrape, `{}`)
		rig.Complete(job.ID, tasks.StepMatch, `{}`)
	}
	info, err = rig.Queues.GetTaskInfo(tasks.QueueAuthority, joined.ID+".calculate.1")
	if err != nil || info.State != asynq.TaskStatePending {
		t.Errorf("its next step is %v, %v", info.State, err)
	}
}

// A process that gives a place back and dies before it runs the next task: the
// sweeper runs it. Nothing that waits counts as lost.
func TestSweepRunsATaskWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	rig := enginetest.New(t)
	rig.Pass(0)
	offerTurns(t, rig, 2)
	two := submitMany(t, rig, "key", 2)
	rig.Sweep(3*time.Second, jobs.Interactive)
	rig.Sweep(5*time.Second, jobs.Interactive)
	if pending, parked := states(t, rig); pending != 1 || parked != 1 {
		t.Fatalf("%d in the queue, %d wait", pending, parked)
	}
	if step := rig.Get(two[1].ID).Steps[tasks.StepScrape]; step.Attempt != 1 {
		t.Errorf("the step that waits has attempt %d", step.Attempt)
	}
	if _, _, err := rig.Jobs.End(t.Context(), two[0], jobs.End{State: jobs.Cancelled}); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]any{
		{"ZREM", "turns:{any}:taken", two[0].ID + ".scrape.1"}, {"HDEL", "turns:{any}:counts", "key"},
	} { // as if the place were given back
		if err := rig.Redis.Do(t.Context(), command...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	rig.Sweep(5*time.Second, jobs.Interactive)
	if pending, parked := states(t, rig); pending != 2 || parked != 0 {
		t.Errorf("%d in the queue, %d wait", pending, parked)
	}
}

// The place of a task that does not exist any more goes to the next.
func TestPlaceOfAMissingTaskGoesToTheNext(t *testing.T) {
	t.Parallel()
	rig := enginetest.New(t)
	offerTurns(t, rig, 2)
	three := submitMany(t, rig, "key", 3)
	if err := rig.Queues.DeleteTask(tasks.QueueAny, three[1].ID+".scrape.1"); err != nil {
		t.Fatal(err)
	}
	endTurn(t, rig, three[0])
	info, err := rig.Queues.GetTaskInfo(tasks.QueueAny, three[2].ID+".scrape.1")
	if err != nil || info.State != asynq.TaskStatePending {
		t.Errorf("the next task is %v, %v", info.State, err)
	}
}
