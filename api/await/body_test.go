package await

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

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
				if step, _ := currentStep(&jobs.Job{Steps: c.steps}); step != c.want {
					t.Fatalf("step %q, want %q", step, c.want)
				}
			}
		})
	}
}

// TestAnOutageIsFeltOnceItHasLasted: workers end the jobs of known vehicles first.
func TestAnOutageIsFeltOnceItHasLasted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var outage tra.Outage
		work := &Work{
			options: Options{Outages: tra.NewOutages(func(context.Context) (tra.Status, error) { return tra.Status{Outage: outage}, nil })},
			holds:   holds{read: time.Now().Add(time.Hour)}, // no queue is paused
		}
		job := &jobs.Job{State: jobs.Running, Kind: tasks.KindQuote, Steps: map[string]jobs.Step{tasks.StepCalculate: {State: jobs.StepReady}}}
		if got := work.waitOf(t.Context(), job); got.what != waitingForWorker || got.isFelt {
			t.Errorf("before the outage got %+v, want that it waits for a worker", got)
		}
		outage = tra.Outage{Reason: tra.ReasonNoWorker}
		for _, c := range []struct {
			after  time.Duration
			isFelt bool
		}{{time.Second, false}, {outageGrace - 2*time.Second, false}, {outageGrace, true}} {
			time.Sleep(c.after)
			if got := work.waitOf(t.Context(), job); got.what != WaitingForAuthority || got.isFelt != c.isFelt {
				t.Errorf("%s later got %+v, want that callers learn of the outage: %t", c.after, got, c.isFelt)
			}
		}
	})
}
