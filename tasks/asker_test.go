package tasks_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/jobs"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

// matchedRows returns jobs of batch rows that are all about one vehicle and matched.
func matchedRows(t *testing.T, rig *enginetest.Rig, n int) (ids []string) {
	t.Helper()
	for i := range n {
		job := rig.Submit(tasks.KindEstimate, tasks.EstimateInput{URL: fmt.Sprintf("https://a.example/%d", i)},
			tasks.Requester{Owner: "key", Class: jobs.Bulk})
		rig.Complete(job.ID, tasks.StepScrape, `{"car":{}}`)
		rig.Complete(job.ID, tasks.StepMatch, `{"label":"AXIO"}`)
		ids = append(ids, job.ID)
	}
	return ids
}

func withAsk(o *tasks.Options) {
	o.Ask = func(job *jobs.Job, _ string) json.RawMessage { return job.Outputs[tasks.StepMatch] }
}

// jobsIn returns the jobs whose tasks wait in a queue, and the name of their vehicle.
func jobsIn(t *testing.T, rig *enginetest.Rig, queue string) (ids []string, vehicle string) {
	t.Helper()
	waiting, err := rig.Queues.ListPendingTasks(queue, asynq.PageSize(1000))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range waiting {
		payload, err := tasks.ParseTaskPayload(task.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if payload.Step == tasks.StepCalculate {
			ids, vehicle = append(ids, payload.Job), payload.Vehicle
		}
	}
	return ids, vehicle
}

const authorityBulk = tasks.QueueAuthority + tasks.BulkSuffix

func TestOneTaskOfAVehicleCrossesTheLine(t *testing.T) {
	t.Parallel()
	rig := enginetest.New(t, withAsk)
	rows := matchedRows(t, rig, 5)
	person := rig.Submit(tasks.KindEstimate, tasks.EstimateInput{URL: "https://a.example/person"},
		tasks.Requester{Owner: "key", Class: jobs.Interactive})
	rig.Complete(person.ID, tasks.StepScrape, `{"car":{}}`)
	rig.Complete(person.ID, tasks.StepMatch, `{"label":"AXIO"}`)
	if ids, _ := jobsIn(t, rig, tasks.QueueAuthority); len(ids) != 1 || ids[0] != person.ID {
		t.Errorf("the person waits: %v", ids)
	}
	asking, vehicle := jobsIn(t, rig, authorityBulk)
	if len(asking) != 1 || asking[0] != rows[0] {
		t.Fatalf("%v ask, want %s", asking, rows[0])
	}
	for range 20 { // the asker's lease is renewed by the sweeper
		rig.Sweep(tasks.RecheckBulk+time.Second, jobs.Bulk)
	}
	if asking, _ := jobsIn(t, rig, authorityBulk); len(asking) != 1 {
		t.Errorf("%v ask after the sweeper has looked", asking)
	}
	rig.Complete(rows[0], tasks.StepCalculate, `{}`)
	for range 2 { // a message may come twice
		if err := rig.StopAsking(t.Context(), tasks.Asked{Vehicle: vehicle, Job: rows[0]}); err != nil {
			t.Fatal(err)
		}
	}
	if ids, _ := jobsIn(t, rig, tasks.QueueAny+tasks.BulkSuffix); len(ids) != len(rows)-1 {
		t.Errorf("%v are calculated near Redis", ids)
	}
}

func TestAnAskerThatFailsIsReplaced(t *testing.T) {
	t.Parallel()
	rig := enginetest.New(t, withAsk)
	rows := matchedRows(t, rig, 4)
	_, vehicle := jobsIn(t, rig, authorityBulk)
	stop := func(job string) {
		t.Helper()
		if err := rig.StopAsking(t.Context(), tasks.Asked{Vehicle: vehicle, Job: job, Failed: true}); err != nil {
			t.Fatal(err)
		}
	}
	stop(rows[2]) // not the asker: one that was given to another worker and had no ask
	if asking, _ := jobsIn(t, rig, authorityBulk); len(asking) != 1 {
		t.Errorf("%v ask", asking)
	}
	stop(rows[0])
	if asking, _ := jobsIn(t, rig, authorityBulk); len(asking) != 2 { // that of rows[0] is still there
		t.Errorf("%v ask after the first has failed", asking)
	}
}

func TestAnAskerThatEndsWithoutAWordIsReplaced(t *testing.T) {
	t.Parallel()
	rig := enginetest.New(t, withAsk)
	rows := matchedRows(t, rig, 3)
	if err := rig.Cancel(t.Context(), rows[0]); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		rig.Sweep(tasks.RecheckBulk+time.Second, jobs.Bulk)
	}
	if asking, _ := jobsIn(t, rig, authorityBulk); len(asking) != 2 {
		t.Errorf("%v ask", asking)
	}
}
