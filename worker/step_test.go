package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

// handlerRig is a handler with one job whose first step is in the queue.
type handlerRig struct {
	t      *testing.T
	server *miniredis.Miniredis
	client *redis.Client // the handler's
	store  *jobs.Store   // the test's own
	steps  *stepHandler
	job    *jobs.Job
	queue  *asynq.Inspector
}

func newHandlerRig(t *testing.T, scrape stepFunc, change ...func(*tasks.Options)) *handlerRig {
	t.Helper()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	engine := enginetest.NewEngine(client, change...)
	job, err := engine.Estimate(t.Context(), "https://a.example/1", "key", jobs.Interactive)
	if err != nil {
		t.Fatal(err)
	}
	own := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = own.Close() })
	return &handlerRig{t, server, client, jobs.NewStore(own), &stepHandler{
		engine: engine, jobs: jobs.NewStore(client), turns: pace.NewProcessor(2), worker: "w", log: slog.New(slog.DiscardHandler), writeTimeout: time.Second,
		run: map[string]stepFunc{tasks.TypeScrape: scrape},
	}, job, asynq.NewInspectorFromRedisClient(own)}
}

// process hands the step's task to the handler and returns its error and the
// job as it is then.
func (b *handlerRig) process() (*jobs.Job, error) {
	b.t.Helper()
	waiting, err := b.queue.ListPendingTasks(tasks.QueueAny)
	if err != nil || len(waiting) != 1 {
		b.t.Fatalf("%d tasks wait, %v", len(waiting), err)
	}
	failed := b.steps.ProcessTask(b.t.Context(), asynq.NewTask(waiting[0].Type, waiting[0].Payload))
	return b.record(), failed
}

// record reads the job.
func (b *handlerRig) record() *jobs.Job {
	b.t.Helper()
	job, err := b.store.Get(b.t.Context(), b.job.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return job
}

func fails(err error) stepFunc {
	return func(context.Context, *jobs.Job) (any, error) { return nil, err }
}

func TestPermanentErrorEndsTheJobAtOnce(t *testing.T) {
	t.Parallel()
	failure := tasks.Permanent(message.Notice{Code: "no_match", Message: "Nothing fits."}, errors.New("private"))
	failure.Details = json.RawMessage(`[{"make":"TOYOTA","modelBody":"X"}]`)
	job, err := newHandlerRig(t, fails(failure)).process()
	if err != nil || job.State != jobs.Failed || job.Error.Code != "no_match" || job.Error.Message != "Nothing fits." ||
		string(job.Error.Details) != string(failure.Details) {
		t.Fatalf("%v, %s %+v", err, job.State, job.Error)
	}
}

// A final error ends the job at once, and is not permanent: another job may succeed soon.
func TestFinalErrorEndsTheJobAtOnce(t *testing.T) {
	t.Parallel()
	failure := tasks.Transient(message.Notice{Code: "ai_unavailable", Message: "Later."}, time.Minute, nil)
	failure.Final = true
	job, err := newHandlerRig(t, fails(failure)).process()
	if err != nil || job.State != jobs.Failed || job.Error.Code != "ai_unavailable" || job.Error.Permanent {
		t.Fatalf("%v, %s %+v", err, job.State, job.Error)
	}
}

func TestOtherErrorsAndPanicsAreRetried(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]stepFunc{
		"any error":     fails(errors.New("broken pipe")),
		"transient":     fails(tasks.Transient(message.Notice{Code: "fetch_failed", Message: "No."}, time.Second, nil)),
		"a closed gate": fails(tasks.Snooze(time.Second, errors.New("breaker"))),
		"a panic":       func(context.Context, *jobs.Job) (any, error) { panic("a bug") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, err := newHandlerRig(t, step).process()
			if err == nil || job.State != jobs.Running || job.Steps[tasks.StepScrape].State != jobs.StepReady {
				t.Fatalf("%v, %s %+v", err, job.State, job.Steps)
			}
		})
	}
}

// lostReply lets a command reach Redis and loses the answer, as a connection
// does that breaks in between.
type lostReply struct {
	nth   int64
	count atomic.Int64 // announcements of tasks are sent beside the step
}

func (l *lostReply) DialHook(next redis.DialHook) redis.DialHook { return next }

func (l *lostReply) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if l.count.Add(1) == l.nth {
			cmd.SetErr(io.ErrUnexpectedEOF)
			return io.ErrUnexpectedEOF
		}
		return err
	}
}

func (l *lostReply) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// Whichever answer of Redis is lost: no step stays claimed by a handler that
// has returned.
func TestLostReplyLeavesNoClaim(t *testing.T) {
	t.Parallel()
	for nth := int64(1); ; nth++ {
		hook := &lostReply{nth: nth}
		b := newHandlerRig(t, func(context.Context, *jobs.Job) (any, error) { return tasks.Scraped{}, nil })
		b.client.AddHook(hook)
		job, err := b.process()
		if step := job.Steps[tasks.StepScrape]; step.State == jobs.StepClaimed {
			t.Errorf("without answer %d: %+v, %v", nth, step, err)
		}
		if hook.count.Load() < nth {
			return // there are no more
		}
	}
}

func TestNoAttemptPastTheDeadline(t *testing.T) {
	t.Parallel()
	b := newHandlerRig(t, fails(tasks.Snooze(time.Hour, errors.New("breaker"))))
	job, err := b.process()
	if err != nil || job.State != jobs.Failed || job.Error.Code != "deadline_exceeded" || strings.Contains(job.Error.Message, "breaker") {
		t.Fatalf("%v, %s %+v", err, job.State, job.Error)
	}
}

func TestCompletedStepEnqueuesTheNext(t *testing.T) {
	t.Parallel()
	b := newHandlerRig(t, func(context.Context, *jobs.Job) (any, error) { return tasks.Scraped{}, nil })
	job, err := b.process()
	waiting, unknown := b.queue.GetTaskInfo(tasks.QueueAny, job.ID+".match.1")
	if err != nil || unknown != nil || job.Steps[tasks.StepScrape].State != jobs.StepDone || waiting.State != asynq.TaskStatePending {
		t.Fatalf("%v, %+v, %+v, %v", err, job.Steps, waiting, unknown)
	}
}

func TestWorkStopsAtItsTimeout(t *testing.T) {
	t.Parallel()
	var left time.Duration
	b := newHandlerRig(t, func(ctx context.Context, _ *jobs.Job) (any, error) {
		deadline, _ := ctx.Deadline()
		left = time.Until(deadline)
		return nil, tasks.Permanent(message.Notice{Code: "x", Message: "x"}, nil)
	})
	if _, err := b.process(); err != nil {
		t.Fatal(err)
	}
	policy, _ := tasks.PolicyOf(tasks.TypeScrape)
	if left <= 0 || left > policy.Timeout {
		t.Fatalf("a step has %v", left)
	}
}

func TestInvalidPayloadIsNotRetried(t *testing.T) {
	t.Parallel()
	b := newHandlerRig(t, nil)
	err := b.steps.ProcessTask(t.Context(), asynq.NewTask(tasks.TypeScrape, []byte(`{"job":""}`)))
	if !errors.Is(err, asynq.SkipRetry) {
		t.Fatal(err)
	}
}

func TestTaskOfAJobThatIsGoneIsDone(t *testing.T) {
	t.Parallel()
	b := newHandlerRig(t, nil)
	err := b.steps.ProcessTask(t.Context(), asynq.NewTask(tasks.TypeScrape, []byte(`{"job":"x","step":"scrape","attempt":1}`)))
	if err != nil {
		t.Fatal(err)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tried    int
		err      error
		from, to time.Duration
	}{
		{0, errors.New("x"), time.Second, 1250 * time.Millisecond},
		{2, errors.New("x"), 4 * time.Second, 5 * time.Second},
		{60, errors.New("x"), 30 * time.Second, 37500 * time.Millisecond},
		{0, tasks.Transient(message.Notice{Code: "x", Message: "x"}, time.Minute, nil), time.Minute, time.Minute},
		{9, tasks.Snooze(2*time.Second, nil), 2 * time.Second, 3 * time.Second},
		{9, tasks.Snooze(time.Millisecond, nil), time.Second, 1500 * time.Millisecond},
	} {
		for range 50 {
			if d := backoff(c.tried, c.err); d < c.from || d > c.to {
				t.Errorf("after %d tries, %v: %v is not within %v and %v", c.tried, c.err, d, c.from, c.to)
			}
		}
	}
}

func TestCancelledJobStopsItsStep(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} { // by message; else by the slow look, the message was lost
		started := make(chan struct{})
		b := newHandlerRig(t, func(ctx context.Context, _ *jobs.Job) (any, error) {
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		b.steps.hub = jobs.NewHub(b.store)
		var listening sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		listening.Go(func() { b.steps.hub.Run(ctx) })
		messages := b.client.Subscribe(t.Context(), jobs.ChannelEnded)
		if _, err := messages.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		var cancelling sync.WaitGroup
		cancelling.Go(func() {
			<-started
			if !told {
				for _, key := range b.server.Keys() {
					if strings.HasPrefix(key, "job:{") {
						b.server.HSet(key, "state", string(jobs.Cancelled))
					}
				}
				return
			}
			if _, err := b.steps.engine.CancelFor(ctx, b.job.ID, "key"); err != nil {
				t.Error(err)
			}
		})
		job, err := b.process()
		if err != nil || job.State != jobs.Cancelled { // an error would have the queue bring the task again
			t.Errorf("%v, %s", err, job.State)
		}
		if took := time.Since(begun); took > 30*time.Second { // much longer than the slow look takes
			t.Errorf("it went on for %v", took)
		}
		if told {
			if message, err := messages.ReceiveMessage(t.Context()); err != nil || message.Payload != b.job.ID {
				t.Errorf("got the message %v, %v; want that %s has ended", message, err, b.job.ID)
			}
		}
		_ = messages.Close()
		cancelling.Wait() // both finalize the job: the handler may be the first to be done
		spin(func() bool { return b.steps.hub.Waiting() == 0 })
		stop()
		listening.Wait()
	}
}

// spin waits for a state that has no signal; the timeout of the test bounds it.
func spin(reached func() bool) {
	for !reached() {
		runtime.Gosched()
	}
}

// A subscriber that cannot be notified is notified later: the handler does not wait for it.
func TestFailedNotificationBlocksNoHandler(t *testing.T) {
	t.Parallel()
	calls := 0
	refusal := errors.New("the batch cannot be written")
	b := newHandlerRig(t, fails(tasks.Permanent(message.Notice{Code: "listing_gone", Message: "Gone."}, nil)), enginetest.WithNotifier(tasks.SubscriberBatch,
		func(_ context.Context, job *jobs.Job, subscribers []string) error {
			calls++
			if job.State != jobs.Failed || len(subscribers) != 1 {
				t.Errorf("%s, %v", job.State, subscribers)
			}
			return refusal
		}))
	row := jobs.New{Kind: b.job.Kind, Class: jobs.Bulk, Input: b.job.Input, Deadline: time.Hour, Subscriber: "batch:1#0"}
	if _, joined, err := b.store.Create(t.Context(), row); !joined || err != nil {
		t.Fatalf("joined: %t, %v", joined, err)
	}
	b.steps.writeTimeout = time.Hour
	job, err := b.process()
	if !errors.Is(err, tasks.ErrNotifyIncomplete) || calls != 1 || job.State != jobs.Failed {
		t.Fatalf("%v after %d calls, %s", err, calls, job.State)
	}
	refusal = nil
	if _, err := b.process(); err != nil || calls != 2 { // the queue brings it again
		t.Fatalf("%v after %d calls", err, calls)
	}
}

// Every task of this test is new to asynq, as after a requeue or a restart.
func TestRetriesAreCountedInTheRecord(t *testing.T) {
	t.Parallel()
	b := newHandlerRig(t, fails(tasks.Transient(message.Notice{Code: "fetch_failed", Message: "The site answered with status 500."}, 0, nil)))
	policy, _ := tasks.PolicyOf(tasks.TypeScrape)
	for retries := range policy.MaxRetries {
		if job, err := b.process(); err == nil || job.State.Ended() || job.Steps[tasks.StepScrape].Retries != retries+1 {
			t.Fatalf("after %d retries: %v, %s %+v", retries, err, job.State, job.Steps)
		}
	}
	if job, err := b.process(); err != nil || job.State != jobs.Failed || job.Error.Code != "fetch_failed" {
		t.Fatalf("%v, %s %+v", err, job.State, job.Steps)
	}
}

func succeeds(output any) stepFunc {
	return func(context.Context, *jobs.Job) (any, error) { return output, nil }
}

func TestOneTaskRunsTheStepsOfOneRole(t *testing.T) {
	t.Parallel()
	rig := newHandlerRig(t, succeeds(tasks.Scraped{}))
	var at *jobs.Job
	rig.steps.run[tasks.TypeMatch] = func(ctx context.Context, job *jobs.Job) (any, error) {
		stored, err := rig.store.Get(ctx, job.ID)
		at = stored
		return map[string]string{"label": "X"}, err
	}
	rig.steps.run[tasks.TypeCalculate] = fails(errors.New("belongs to another role"))
	job, err := rig.process()
	if err != nil || job.Steps[tasks.StepMatch].State != jobs.StepDone {
		t.Fatalf("%v, %+v", err, job.Steps)
	}
	if at.Outputs[tasks.StepScrape] == nil || at.Steps[tasks.StepMatch].State != jobs.StepClaimed || at.Steps[tasks.StepMatch].Worker != "w" {
		t.Errorf("during the second step: %+v %s", at.Steps, at.Outputs)
	}
	if waiting, err := rig.queue.ListPendingTasks(tasks.QueueAuthority); err != nil || len(waiting) != 1 {
		t.Errorf("%d tasks for the authority, %v", len(waiting), err)
	}
}

// A step that follows another in one task and fails is delivered after its delay,
// not sooner: the sweeper must not find it without a task.
func TestContinuedStepIsRetriedByATaskOfItsOwn(t *testing.T) {
	t.Parallel()
	rig := newHandlerRig(t, succeeds(tasks.Scraped{}))
	rig.steps.run[tasks.TypeMatch] = fails(tasks.Transient(message.Notice{Code: "broken", Message: "No."}, time.Minute, nil))
	job, err := rig.process()
	step := job.Steps[tasks.StepMatch]
	if err != nil || step.State != jobs.StepReady || step.Retries != 1 || step.Attempt != 1 || step.Claim != "" {
		t.Fatalf("%v, %+v", err, step)
	}
	later, err := rig.queue.ListScheduledTasks(tasks.QueueAny)
	if err != nil || len(later) != 1 || later[0].Type != tasks.TypeMatch || time.Until(later[0].NextProcessAt) < 45*time.Second {
		t.Fatalf("%+v, %v", later, err)
	}
	rig.steps.run[tasks.TypeMatch] = succeeds(map[string]string{})
	if err := rig.steps.ProcessTask(t.Context(), asynq.NewTask(later[0].Type, later[0].Payload)); err != nil {
		t.Fatal(err)
	}
	if job, err = rig.store.Get(t.Context(), job.ID); err != nil || job.Steps[tasks.StepMatch].State != jobs.StepDone {
		t.Errorf("%v, %+v", err, job.Steps)
	}
}

// The answer to the script that claims the next step may be lost after it ran.
func TestLostReplyKeepsTheNextStep(t *testing.T) {
	t.Parallel()
	for nth := 1; nth < 8; nth++ {
		rig := newHandlerRig(t, succeeds(tasks.Scraped{}))
		runs := 0
		rig.steps.run[tasks.TypeMatch] = func(context.Context, *jobs.Job) (any, error) {
			runs++
			return map[string]string{}, nil
		}
		rig.client.AddHook(&lostReply{nth: int64(nth)})
		job, err := rig.process()
		if err != nil { // the claim itself was lost: asynq delivers the task again
			job, err = rig.process()
		}
		if err != nil || job.Steps[tasks.StepMatch].State != jobs.StepDone || runs != 1 {
			t.Errorf("reply %d lost: %v, %+v, %d runs", nth, err, job.Steps, runs)
		}
	}
}

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
		rig.steps.known = func(_ context.Context, job *jobs.Job) (any, error) {
			if _, matched := job.Outputs[tasks.StepMatch]; !matched {
				t.Errorf("%s: the output of the match is missing", name)
			}
			return map[string]int{"total": 1}, c.err
		}
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

// A step that was enqueued for a worker of the role authority is made of what is cached
// when none can be expected to run it, and only then.
func TestAWaitingStepFallsBackToWhatIsCached(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		err    error
		state  jobs.State
	}{
		"TRA can be asked":       {"", nil, jobs.Running},
		"away and known":         {tra.ReasonNoWorker, nil, jobs.Succeeded},
		"away and not known":     {tra.ReasonNoWorker, tra.ErrNotKnown, jobs.Running},
		"away and another fault": {tra.ReasonNoWorker, errors.New("a bug"), jobs.Running},
	} {
		rig := newHandlerRig(t, fails(nil))
		rig.steps.run[tasks.TypeMatch] = fails(nil)
		if job, err := rig.process(); err != nil || job.Steps[tasks.StepCalculate].State != jobs.StepReady {
			t.Fatalf("%s: %+v, %v", name, job, err)
		}
		rig.steps.known = func(context.Context, *jobs.Job) (any, error) { return map[string]int{"total": 1}, c.err }
		rig.steps.outages = tra.NewOutages(func(context.Context) (tra.Status, error) {
			return tra.Status{Outage: tra.Outage{Reason: c.reason}}, nil
		})
		sweeper := enginetest.NewEngine(rig.client, func(o *tasks.Options) { o.Fallback = rig.steps.fallback })
		due := redis.Z{Member: rig.job.ID} // long ago
		if err := rig.client.ZAdd(t.Context(), "jobs:active:interactive", due).Err(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := sweeper.Sweep(t.Context(), jobs.Interactive, func() bool { return true }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		job := rig.record()
		if job.State != c.state || c.state == jobs.Succeeded && string(job.Result) != `{"total":1}` {
			t.Errorf("%s: %s, %s", name, job.State, job.Result)
		}
	}
}

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
