package await

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

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
			testenv.Pass(c.after)
			if got := work.waitOf(t.Context(), job); got.what != WaitingForAuthority || got.isFelt != c.isFelt {
				t.Errorf("%s later got %+v, want that callers learn of the outage: %t", c.after, got, c.isFelt)
			}
		}
	})
}
