package tasks

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/jobs"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	output := map[string]json.RawMessage{StepScrape: json.RawMessage(`{}`)}
	ready, claimed := jobs.Step{State: jobs.StepReady}, jobs.Step{State: jobs.StepClaimed}
	good, bad := jobs.Child{Job: "x", State: jobs.Succeeded}, jobs.Child{Job: "y", State: jobs.Failed}
	for _, c := range []struct {
		name string
		job  jobs.Job
		want string
	}{
		{"new", jobs.Job{Kind: KindEstimate, State: jobs.Queued}, "0/3,waiting,waiting,waiting"},
		{
			"in the queue",
			jobs.Job{Kind: KindEstimate, State: jobs.Queued, Steps: map[string]jobs.Step{StepScrape: ready}},
			"0/3,queued,waiting,waiting",
		},
		{
			"running", jobs.Job{
				Kind: KindEstimate, State: jobs.Running, Outputs: output,
				Steps: map[string]jobs.Step{StepScrape: {State: jobs.StepDone}, StepMatch: claimed},
			}, "1/3,done,running,waiting",
		},
		{
			"failed", jobs.Job{
				Kind: KindEstimate, State: jobs.Failed, Outputs: output,
				Steps: map[string]jobs.Step{StepScrape: {State: jobs.StepDone}, StepMatch: claimed},
			}, "1/3,done,failed,waiting",
		},
		{
			"cancelled",
			jobs.Job{Kind: KindQuote, State: jobs.Cancelled, Steps: map[string]jobs.Step{StepMatch: claimed}},
			"0/2,waiting,waiting",
		},
		{
			"two cars",
			jobs.Job{Kind: KindCompare, State: jobs.Running, Children: map[string]jobs.Child{ChildCar1: good, ChildCar2: {Job: "z"}}},
			"1/5,done,running,waiting,waiting,waiting",
		},
		{
			"one sheet, unread", jobs.Job{
				Kind: KindCompare, State: jobs.Running,
				Children: map[string]jobs.Child{ChildCar1: good, ChildCar2: good, ChildSheet1: bad},
				Steps:    map[string]jobs.Step{StepRecommend: ready},
			}, "3/5,done,done,failed,skipped,queued",
		},
		{
			"compared", jobs.Job{
				Kind: KindCompare, State: jobs.Succeeded, Children: map[string]jobs.Child{ChildCar1: good, ChildCar2: good},
				Outputs: map[string]json.RawMessage{StepRecommend: json.RawMessage(`{}`)},
			}, "5/5,done,done,skipped,skipped,done",
		},
		{"of an unknown kind", jobs.Job{Kind: "x"}, "0/0"},
	} {
		got := ProgressOf(&c.job)
		words := []string{fmt.Sprintf("%d/%d", got.Done, got.Total)}
		for _, part := range got.Steps {
			words = append(words, string(part.State))
		}
		if text := strings.Join(words, ","); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
	for kind, flow := range workflows {
		if len(flow.parts) == 0 {
			t.Errorf("no parts are known of %s", kind)
		}
	}
}

func TestCurrentStep(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name  string
		steps map[string]jobs.Step
		want  string
	}{
		{"none yet", nil, ""},
		{"one", map[string]jobs.Step{"scrape": {State: jobs.StepReady, Since: now}}, "scrape"},
		{"one done", map[string]jobs.Step{"scrape": {State: jobs.StepDone, Since: now}}, ""},
		{"after one done", map[string]jobs.Step{
			"scrape": {State: jobs.StepDone, Since: now}, "match": {State: jobs.StepClaimed, Since: now.Add(-time.Second)},
		}, "match"},
		{"the later of two", map[string]jobs.Step{
			"a": {State: jobs.StepReady, Since: now}, "b": {State: jobs.StepClaimed, Since: now.Add(time.Second)},
		}, "b"},
		{"two at once", map[string]jobs.Step{
			"b": {State: jobs.StepReady, Since: now}, "a": {State: jobs.StepReady, Since: now},
			"c": {State: jobs.StepReady, Since: now},
		}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 20 { // maps have no order
				if step := CurrentStep(&jobs.Job{Steps: c.steps}).Name; step != c.want {
					t.Fatalf("step %q, want %q", step, c.want)
				}
			}
		})
	}
}
