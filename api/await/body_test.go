package await

import (
	"testing"
	"time"

	"ushuru/pkg/jobs"
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
