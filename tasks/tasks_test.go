package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

func estimateJob(outputs ...string) *jobs.Job {
	job := &jobs.Job{
		ID: "01J", Kind: KindEstimate, Class: jobs.Interactive,
		Input: json.RawMessage(`{"url":"https://a.example/1"}`), Outputs: map[string]json.RawMessage{},
	}
	for i, step := range []string{StepScrape, StepMatch, StepCalculate} {
		if i < len(outputs) {
			job.Outputs[step] = json.RawMessage(outputs[i])
		}
	}
	return job
}

const (
	scraped    = `{"car":{"make":"TOYOTA","images":[]},"warnings":[{"code":"a","message":"A"}]}`
	chosen     = `{}`
	calculated = `{"input":{"url":"https://a.example/1"}}`
)

func TestWorkflowOfAnEstimate(t *testing.T) {
	t.Parallel()
	for done, want := range [][]string{{StepScrape}, {StepMatch}, {StepCalculate}, nil} {
		job := estimateJob([]string{scraped, chosen, calculated}[:done]...)
		next, err := advance(job)
		if err != nil || !slices.Equal(next.Steps, want) || (next.Result != nil) != (want == nil) {
			t.Errorf("after %d steps: %v %s, %v", done, next.Steps, next.Result, err)
		}
	}
}

func TestAnswerPutsTheOutputsTogether(t *testing.T) {
	t.Parallel()
	subject, err := SubjectOf(estimateJob(scraped, chosen))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := subject.Result(vehicle.Estimate{
		Tax: vehicle.Tax{ReferenceNumber: "R"}, Warnings: []vehicle.Warning{{Code: "b", Message: "B"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e, ok := answer.(vehicle.Estimate)
	if !ok || e.Input.URL != "https://a.example/1" || e.Car.Make != "TOYOTA" || e.Tax.ReferenceNumber != "R" || e.Cached ||
		len(e.Warnings) != 2 || e.Warnings[0].Code != "a" || e.Warnings[1].Code != "b" {
		t.Fatalf("%+v", e)
	}
}

func TestWorkflowRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	if next, err := advance(&jobs.Job{Kind: "novel"}); err == nil {
		t.Errorf("an unknown kind: %+v", next)
	}
	if subject, err := SubjectOf(estimateJob(`"no object"`, chosen)); err == nil {
		t.Errorf("an output that cannot be read: %+v", subject)
	}
}

// Asynqmon cuts task ids at a dash, and asynq keys at a brace.
func TestTaskIDs(t *testing.T) {
	t.Parallel()
	same := func(step string, attempt uint8) bool {
		id := taskID("01J", step, int(attempt))
		return id == taskID("01J", step, int(attempt)) && id != taskID("01J", step, int(attempt)+1)
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
	if id := taskID("01J8Z3", StepScrape, 2); id != "01J8Z3.scrape.2" || strings.ContainsAny(id, "-{}") {
		t.Error(id)
	}
}

func TestEveryStepHasAPolicyAndAQueueThatARoleServes(t *testing.T) {
	t.Parallel()
	served := map[string]int{}
	for _, role := range []Role{RoleAny, RoleAuthority, RoleAI} {
		for queue, weight := range QueuesOf(role) {
			if _, both := served[queue]; both {
				t.Errorf("queue %s is served by two roles", queue)
			}
			served[queue] = weight
		}
	}
	for taskType, policy := range policies {
		if policy.Timeout <= 0 || served[policy.Queue] != weightInteractive || served[policy.Queue+BulkSuffix] != weightBulk {
			t.Errorf("%s: %+v", taskType, policy)
		}
	}
	for _, step := range []string{StepScrape, StepMatch} {
		if _, ok := QueuesOf(RoleAny)[policies[KindEstimate+":"+step].Queue]; !ok {
			t.Errorf("%s is not for the role any", step)
		}
	}
	if _, ok := QueuesOf(RoleAuthority)[policies[TypeCalculate].Queue]; !ok {
		t.Error("calculate must run in Tanzania")
	}
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{``, `x`, `{}`, `{"job":"a"}`, `{"job":"a","step":"b"}`, `{"job":"a","step":"b","attempt":0}`, `[]`} {
		if n, err := ParseTaskPayload([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, n)
		}
	}
	job := estimateJob()
	job.Class = jobs.Bulk
	task, err := newTask(job, StepScrape, 3)
	if err != nil {
		t.Fatal(err)
	}
	n, err := ParseTaskPayload(task.Payload())
	want := TaskPayload{Job: "01J", Step: StepScrape, Attempt: 3, URL: "https://a.example/1"}
	if err != nil || !reflect.DeepEqual(n, want) || task.Type() != TypeScrape {
		t.Fatalf("%+v %v", n, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial tcp 10.0.0.1:443: refused")
	gone := fmt.Errorf("step: %w", Permanent(message.Notice{Code: "listing_gone", Message: "The listing is gone."}, cause))
	if e := JobError(gone); e.Code != "listing_gone" || e.Message != "The listing is gone." {
		t.Errorf("%+v", e)
	}
	if e := JobError(cause); e.Code != "internal" || strings.Contains(e.Message, "10.0.0.1") {
		t.Errorf("a cause reached the caller: %+v", e)
	}
	if !IsFailure(gone) || !IsFailure(cause) || IsFailure(nil) ||
		IsFailure(fmt.Errorf("x: %w", Snooze(time.Second, cause))) {
		t.Error("only a closed gate costs no retry")
	}
}
