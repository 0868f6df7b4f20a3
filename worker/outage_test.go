package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/tasks"
)

const loading = "LOADING Redis is loading the dataset in memory"

// outageRig is a handler whose Redis the test can make refuse every command.
func outageRig(t *testing.T, step func(server *miniredis.Miniredis) error) *handlerRig {
	t.Helper()
	var server *miniredis.Miniredis
	b := newHandlerRig(t, func(context.Context, *jobs.Job) (any, error) {
		return tasks.Scraped{}, step(server)
	})
	server = b.server
	b.steps.writeTimeout, b.steps.outageTimeout = 10*time.Millisecond, time.Minute
	return b
}

// goAway has the server refuse commands for a while.
func goAway(server *miniredis.Miniredis, reply string, d time.Duration) {
	server.SetError(reply)
	time.AfterFunc(d, func() { server.SetError("") })
}

// The outage is longer than the write time-out, and asynq has given up the task.
func TestStepOfALongOutageIsReleasedAndEnqueuedAtOnce(t *testing.T) {
	t.Parallel()
	const away = 1500 * time.Millisecond
	ctx, giveUp := context.WithCancel(t.Context())
	b := outageRig(t, func(server *miniredis.Miniredis) error {
		goAway(server, loading, away)
		giveUp()
		return errors.New("dial tcp: " + loading)
	})
	waiting, err := b.queue.ListPendingTasks(tasks.QueueAny)
	if err != nil || len(waiting) != 1 {
		t.Fatalf("%d tasks wait, %v", len(waiting), err)
	}
	begun := time.Now()
	err = b.steps.ProcessTask(ctx, asynq.NewTask(waiting[0].Type, waiting[0].Payload))
	late := time.Since(begun) - away
	step := b.record().Steps[tasks.StepScrape]
	_, unknown := b.queue.GetTaskInfo(tasks.QueueAny, b.job.ID+".scrape.2")
	if err == nil || unknown != nil || step.State != jobs.StepReady || step.Attempt != 2 || step.Retries != 0 {
		t.Errorf("%v, %v, %+v", err, unknown, step)
	}
	if late > 5*time.Second {
		t.Errorf("%v after the return of Redis", late)
	}
}

func TestOutputOfALongOutageIsStored(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{loading, "OOM command not allowed", "READONLY no", "MISCONF no"} {
		runs := 0
		b := outageRig(t, func(server *miniredis.Miniredis) error {
			runs++
			goAway(server, reply, 300*time.Millisecond)
			return nil
		})
		job, err := b.process()
		if err != nil || runs != 1 || job.Steps[tasks.StepScrape].State != jobs.StepDone {
			t.Errorf("%s: %v after %d runs, %+v", reply, err, runs, job.Steps)
		}
	}
}

func TestWriteThatRedisRefusesIsNotRetriedForLong(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	err := persist(t.Context(), 50*time.Millisecond, time.Hour, func(context.Context) error {
		return errors.New("WRONGTYPE")
	})
	if err == nil || time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

func TestStepThatRedisFailedCostsNoRetry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		free bool
	}{
		{errors.New(loading), true},
		{redis.ErrPoolTimeout, true},
		{errors.New("a bug"), false},
		{tasks.Transient(message.Notice{Code: "fetch_failed", Message: "No."}, 0, errors.New("OOM")), false},
		{tasks.Snooze(time.Minute, errors.New("OOM")), true},
	} {
		got := snoozeOutage(c.err)
		if tasks.IsFailure(got) == c.free || !strings.Contains(got.Error(), c.err.Error()) {
			t.Errorf("%v: %v", c.err, got)
		}
	}
	if snoozeOutage(nil) != nil {
		t.Error("an error of nothing")
	}
}
