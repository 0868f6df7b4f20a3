package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

var _ = testenv.FewChecks()

// The simulation has processes that submit, run and sweep, and that crash before or
// after any of their writes to Redis. The test plays the queue: it delivers tasks
// late, twice, out of order, or loses them. Whatever happens, each job ends once,
// with the result of a run without faults.

var errCrashed = errors.New("crashed")

// crashInjector is a Redis hook that crashes its process at a chosen command.
type crashInjector struct {
	left    int  // commands until the crash; negative: it does not crash
	after   bool // the last command still reaches Redis
	crashed bool
	pause   func() // called before each command, so that other processes act in between
	watch   func(cmd redis.Cmder, run func() error) error
}

func (k *crashInjector) nextCommand() (before, after bool) {
	if k.crashed {
		return true, true
	}
	if k.left < 0 {
		return false, false
	}
	if k.left--; k.left >= 0 {
		return false, false
	}
	k.crashed = true
	return !k.after, true
}

func (k *crashInjector) DialHook(next redis.DialHook) redis.DialHook { return next }

func (k *crashInjector) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		k.pause()
		before, after := k.nextCommand()
		if before {
			cmd.SetErr(errCrashed)
			return errCrashed
		}
		err := k.watch(cmd, func() error { return next(ctx, cmd) })
		if after {
			cmd.SetErr(errCrashed)
			return errCrashed
		}
		return err
	}
}

func (k *crashInjector) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		k.pause()
		before, after := k.nextCommand()
		if before {
			return errCrashed
		}
		err := next(ctx, cmds)
		if after {
			return errCrashed
		}
		return err
	}
}

// process is one running Ushuru.
type process struct {
	crashes *crashInjector
	client  *redis.Client
	steps   *stepHandler
}

type simulation struct {
	t          *rapid.T
	server     *miniredis.Miniredis
	now        time.Time
	store      *jobs.Store // the test's own, which never crashes
	inspector  *asynq.Inspector
	processes  []*process
	started    int
	jobs       map[string]string // id → url; of a comparison both
	ended      map[string]string // id → how it was first seen to have ended
	results    map[string]string // id → its result, while the record has it
	cancelled  map[string]bool   // jobs that were, or may have been
	subscribed map[string]bool   // subscribers that must be notified
	notified   map[string]bool   // subscribers that were notified
	depth      int               // of handlers that overlap
	quiet      bool              // no more faults
}

func newSimulation(t *rapid.T) *simulation {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() {
		_ = client.Close()
		server.Close()
	})
	w := &simulation{
		t: t, server: server, now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		store: jobs.NewStore(client), inspector: asynq.NewInspectorFromRedisClient(client),
		jobs: map[string]string{}, ended: map[string]string{}, results: map[string]string{}, cancelled: map[string]bool{},
		subscribed: map[string]bool{}, notified: map[string]bool{},
	}
	server.SetTime(w.now)
	for range 3 {
		w.processes = append(w.processes, w.newProcess())
	}
	t.Cleanup(func() {
		for _, p := range w.processes {
			_ = p.client.Close()
		}
	})
	return w
}

func (w *simulation) newProcess() *process {
	w.started++
	p := &process{crashes: &crashInjector{left: -1, pause: w.overlap, watch: w.watch}}
	p.client = redis.NewClient(&redis.Options{Addr: w.server.Addr(), MaxRetries: -1})
	// The connection is made before the injector counts commands.
	if err := p.client.Ping(context.Background()).Err(); err != nil {
		w.t.Fatal(err)
	}
	p.client.AddHook(p.crashes)
	engine := enginetest.NewEngine(p.client, enginetest.WithNotifier("batch", w.notify), func(o *tasks.Options) {
		o.Sequential = true
		o.BeforeSucceed = (&resultCache{o.Results}).put
	})
	p.steps = &stepHandler{
		engine: engine, jobs: jobs.NewStore(p.client), turns: pace.NewProcessor(2), worker: fmt.Sprintf("worker%d", w.started), log: slog.New(slog.DiscardHandler),
		writeTimeout: 20 * time.Millisecond,
		run: map[string]stepFunc{
			tasks.TypeScrape:    w.fake(scrapedOf),
			tasks.TypeMatch:     w.fake(always(map[string]string{"label": "X - Y - Z"})),
			tasks.TypeCalculate: w.fake(calculatedOf),
			tasks.TypeSummarize: w.fake(sheetOf),
			tasks.TypeRecommend: w.fake(comparisonOf),
		},
	}
	if err := w.store.Heartbeat(context.Background(), p.steps.worker, jobs.Presence{}, nil); err != nil { // before it claims a step
		w.t.Fatal(err)
	}
	return p
}

func always(output any) func(*jobs.Job) any { return func(*jobs.Job) any { return output } }

// scrapedOf: the first two cars have a sheet, which is one and the same.
func scrapedOf(job *jobs.Job) any {
	car := vehicle.Car{Make: "TOYOTA", Images: []string{}}
	if strings.Contains(string(job.Input), "sheet") {
		sheet := "https://a.example/sheet.jpg"
		car.ConditionReportURL = &sheet
	}
	return tasks.Scraped{Car: car}
}

func calculatedOf(job *jobs.Job) any {
	subject, err := tasks.SubjectOf(job)
	if err != nil {
		panic(err)
	}
	answer, err := subject.Result(vehicle.Estimate{
		Matched: vehicle.Matched{Make: "TOYOTA", Adjustments: []vehicle.Adjustment{}},
		Tax:     vehicle.Tax{ReferenceNumber: "SIM1"},
	})
	if err != nil {
		panic(err)
	}
	return answer
}

func sheetOf(job *jobs.Job) any { return job.Input }

// comparisonOf is what the last step of a comparison finds in its record.
func comparisonOf(job *jobs.Job) any {
	seen := map[string]string{}
	for name, child := range job.Children {
		seen[name] = string(child.State)
		if child.State == jobs.Succeeded {
			seen[name] = string(child.Result)
		}
	}
	text, _ := json.Marshal(seen)
	return vehicle.Comparison{Recommendation: string(text)}
}

// fake is the work of a step: it may fail, and other processes may act meanwhile.
func (w *simulation) fake(output func(*jobs.Job) any) stepFunc {
	return func(_ context.Context, job *jobs.Job) (any, error) {
		if w.quiet {
			return output(job), nil
		}
		w.overlap() //nolint:contextcheck // others act, each in their own time
		switch rapid.IntRange(0, 9).Draw(w.t, "work") {
		case 0:
			return nil, errors.New("upstream hung up")
		case 1:
			return nil, tasks.Snooze(time.Second, errors.New("breaker open"))
		case 2:
			panic("a bug")
		}
		return output(job), nil
	}
}

// overlap lets other processes act in the middle of what a process does.
func (w *simulation) overlap() {
	if w.quiet || w.depth >= 3 || rapid.IntRange(0, 7).Draw(w.t, "overlap") > 0 {
		return
	}
	w.depth++
	w.act()
	w.depth--
}

// anyProcess returns a running process, which may be set to crash soon.
func (w *simulation) anyProcess() *process {
	i := rapid.IntRange(0, len(w.processes)-1).Draw(w.t, "process")
	p := w.processes[i]
	if p.crashes.crashed {
		p = w.newProcess()
		w.processes[i] = p
		if w.quiet {
			p.steps.writeTimeout = 10 * time.Second
		}
	}
	if !w.quiet && p.crashes.left < 0 && rapid.IntRange(0, 2).Draw(w.t, "crash") == 0 {
		p.crashes.left = rapid.IntRange(0, 12).Draw(w.t, "commands left")
		p.crashes.after = rapid.Bool().Draw(w.t, "after the write")
	}
	return p
}

var classes = []jobs.Class{jobs.Interactive, jobs.Bulk}

var listings = []string{"https://a.example/1/sheet", "https://a.example/2/sheet", "https://a.example/3"}

// submit submits an estimate, for a caller or for a batch.
func (w *simulation) submit() {
	url := rapid.SampledFrom(listings).Draw(w.t, "url")
	by := tasks.Requester{Owner: "key", Class: jobs.Interactive}
	if rapid.Bool().Draw(w.t, "in a batch") {
		by.Subscriber, by.Class = fmt.Sprintf("batch:b#%d", len(w.subscribed)), jobs.Bulk
	}
	job, err := w.anyProcess().steps.engine.Submit(context.Background(), tasks.KindEstimate, tasks.EstimateInput{URL: url}, by)
	switch {
	case err != nil:
	case by.Subscriber == "":
		w.jobs[job.ID] = url
	case !job.State.Ended():
		w.subscribed[by.Subscriber] = true
	}
}

// notify is the notifier of batch rows.
func (w *simulation) notify(_ context.Context, job *jobs.Job, parents []string) error {
	if !job.State.Ended() {
		w.t.Fatalf("notified of the end of %s, which is %s", job.ID, job.State)
	}
	if job.State == jobs.Cancelled {
		w.t.Fatalf("job %s, which %v want, was cancelled", job.ID, parents)
	}
	if !w.quiet && rapid.IntRange(0, 4).Draw(w.t, "batch") == 0 {
		return errors.New("the batch cannot be written")
	}
	for _, parent := range parents {
		w.notified[parent] = true
	}
	return nil
}

// compare submits a comparison.
func (w *simulation) compare() {
	first := rapid.IntRange(0, len(listings)-1).Draw(w.t, "first")
	second := (first + rapid.IntRange(1, len(listings)-1).Draw(w.t, "second")) % len(listings)
	input := tasks.CompareInput{URL1: listings[first], URL2: listings[second], Rate: "2650", Lang: "en"}
	job, err := w.anyProcess().steps.engine.Submit(context.Background(), tasks.KindCompare, input,
		tasks.Requester{Owner: "key", Class: jobs.Interactive})
	if err == nil {
		w.jobs[job.ID] = input.URL1 + " " + input.URL2
	}
}

// cancel cancels one of the comparisons, or any job for its caller.
func (w *simulation) cancel() {
	abandon := rapid.Bool().Draw(w.t, "abandon")
	var ids []string
	for id, url := range w.jobs {
		if abandon || strings.Contains(url, " ") {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	id := rapid.SampledFrom(ids).Draw(w.t, "cancelled")
	w.cancelled[id] = true
	if abandon {
		_, _ = w.anyProcess().steps.engine.CancelFor(context.Background(), id, "key")
		return
	}
	_ = w.anyProcess().steps.engine.Cancel(context.Background(), id) // the process may crash
}

func (w *simulation) pending() []*asynq.TaskInfo {
	var all []*asynq.TaskInfo
	var queues []string
	for _, queue := range []string{tasks.QueueAny, tasks.QueueAuthority, tasks.QueueAI} {
		queues = append(queues, queue, queue+tasks.BulkSuffix)
	}
	for _, queue := range queues {
		infos, err := w.inspector.ListPendingTasks(queue)
		if err != nil && !errors.Is(err, asynq.ErrQueueNotFound) {
			w.t.Fatal(err)
		}
		delayed, err := w.inspector.ListScheduledTasks(queue) // the test plays the queue, which knows when
		if err != nil && !errors.Is(err, asynq.ErrQueueNotFound) {
			w.t.Fatal(err)
		}
		all = append(append(all, infos...), delayed...)
	}
	return all
}

// deliver hands a task to a process. Whether it is then forgotten, as after
// success, or comes again, is as the queue likes.
func (w *simulation) deliver() {
	waiting := w.pending()
	if len(waiting) == 0 {
		return
	}
	task := waiting[rapid.IntRange(0, len(waiting)-1).Draw(w.t, "task")]
	err := w.anyProcess().steps.ProcessTask(context.Background(), asynq.NewTask(task.Type, task.Payload))
	lose := err == nil
	if rapid.IntRange(0, 3).Draw(w.t, "queue errs") == 0 {
		lose = !lose
	}
	if lose {
		w.deleteTask(task)
	}
}

func (w *simulation) deleteTask(task *asynq.TaskInfo) {
	err := w.inspector.DeleteTask(task.Queue, task.ID)
	if err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
		w.t.Fatal(err)
	}
}

// sweep lets time pass, with heartbeats of the running processes, and one of them
// sweeps.
func (w *simulation) sweep() {
	w.passTime(time.Duration(rapid.IntRange(1, 8).Draw(w.t, "seconds")) * time.Second)
	class := rapid.SampledFrom(classes).Draw(w.t, "class")
	_, _, err := w.anyProcess().steps.engine.Sweep(context.Background(), class, trusting(rapid.Bool().Draw(w.t, "trusted")))
	if err != nil && w.quiet {
		w.t.Fatal(err)
	}
}

func trusting(trusted bool) func() bool { return func() bool { return trusted } }

// watch checks that no script takes a step from a running process: with every new
// attempt, the previous claim is of a crashed process, was released, or was held
// beyond its timeout.
func (w *simulation) watch(cmd redis.Cmder, run func() error) error {
	args := cmd.Args() // evalsha sha keys key… argument…; of a step's scripts it is the first
	if len(args) < 5 || cmd.Name() != "evalsha" && cmd.Name() != "eval" {
		return run()
	}
	key, step := fmt.Sprint(args[3]), "s:"+fmt.Sprint(args[4])+":"
	holder, attempt := w.server.HGet(key, step+"worker"), w.server.HGet(key, step+"attempt")
	since, _ := strconv.ParseInt(w.server.HGet(key, step+"since"), 10, 64)
	err := run()
	if holder == "" || w.server.HGet(key, step+"attempt") == attempt || w.now.Sub(time.UnixMilli(since)) >= time.Minute {
		return err
	}
	for _, p := range w.processes {
		if p.steps.worker == holder && !p.crashes.crashed {
			w.t.Fatalf("%s of %s was taken from %s, which runs", step, key, holder)
		}
	}
	return err
}

func (w *simulation) passTime(d time.Duration) {
	w.now = w.now.Add(d)
	w.server.SetTime(w.now)
	w.server.FastForward(d)
	for _, p := range w.processes {
		if !p.crashes.crashed {
			if err := w.store.Heartbeat(context.Background(), p.steps.worker, jobs.Presence{}, nil); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

func (w *simulation) act() {
	switch rapid.IntRange(0, 9).Draw(w.t, "act") {
	case 0, 1:
		w.submit()
	case 2:
		w.compare()
	case 3:
		w.sweep()
	case 4:
		if rapid.Bool().Draw(w.t, "cancel") {
			w.cancel()
		}
	default:
		w.deliver()
	}
	w.check()
}

// check checks that a job that has ended does not change.
func (w *simulation) check() {
	for id := range w.jobs {
		job, err := w.store.Get(context.Background(), id)
		if err != nil {
			w.t.Fatalf("job %s whose id a caller knows: %v", id, err)
		}
		if !job.State.Ended() {
			if w.ended[id] != "" {
				w.t.Fatalf("job %s ended as %s and is now %s", id, w.ended[id], job.State)
			}
			continue
		}
		// The record of a row's job loses its result, which the batch and the cache have.
		how := fmt.Sprintf("%s %v %v", job.State, job.Error, job.Ended)
		if result := string(job.Result); result != "" {
			if before := w.results[id]; before != "" && before != result {
				w.t.Fatalf("job %s has two results:\n%s\n%s", id, before, result)
			}
			w.results[id] = result
		}
		if before := w.ended[id]; before != "" && before != how {
			w.t.Fatalf("job %s ended twice:\n%s\n%s", id, before, how)
		}
		w.ended[id] = how
	}
}

// finish lets the running processes finish without faults, until a claim that was
// never released counts as lost.
func (w *simulation) finish() {
	w.quiet = true
	for _, p := range w.processes {
		p.crashes.left, p.steps.writeTimeout = -1, 10*time.Second
	}
	for range 120 {
		w.passTime(2 * time.Second)
		for _, class := range classes {
			if _, _, err := w.anyProcess().steps.engine.Sweep(context.Background(), class, trusting(true)); err != nil {
				w.t.Fatal(err)
			}
		}
		for _, task := range w.pending() {
			if err := w.anyProcess().steps.ProcessTask(context.Background(), asynq.NewTask(task.Type, task.Payload)); err != nil {
				w.t.Fatal(err)
			}
			w.deleteTask(task)
		}
		w.check()
		left := len(w.pending())
		for _, class := range classes {
			active, _ := w.server.ZMembers("jobs:active:" + string(class))
			left += len(active)
		}
		if left == 0 {
			return
		}
	}
}

func TestJobsEndOnceWhateverCrashes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newSimulation(t)
		if rapid.Bool().Draw(t, "one or two") {
			w.submit()
		} else {
			w.compare()
		}
		for range rapid.IntRange(0, 40).Draw(t, "acts") {
			w.act()
		}
		w.finish()
		for id, url := range w.jobs {
			job, err := w.store.Get(context.Background(), id)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case job.Kind == tasks.KindEstimate && job.State == jobs.Succeeded && job.Result == nil && job.Class == jobs.Bulk:
				// The record of a row's job has lost its result: the batch and the cache have it.
				if was := w.results[id]; was != "" {
					w.checkEstimate(id, url, []byte(was))
				}
			case job.Kind == tasks.KindEstimate && job.State == jobs.Succeeded:
				w.checkEstimate(id, url, job.Result)
			case job.State == jobs.Succeeded:
				w.checkComparison(job, url)
			case job.State == jobs.Failed && job.Error.Code == "worker_lost" && (attempts(job) >= tasks.MaxAttempts || failedChild(job, "worker_lost")):
			case job.State == jobs.Failed && job.Error.Code == "internal" && (retries(job) || failedChild(job, "internal")):
			case job.State == jobs.Cancelled && w.cancelled[id]:
			default:
				t.Fatalf("job %s is %s after all: %v %v %v", id, job.State, job.Error, job.Steps, job.Children)
			}
		}
		w.checkRest()
	})
}

func (w *simulation) checkEstimate(id, url string, result []byte) {
	var estimate vehicle.Estimate
	if err := json.Unmarshal(result, &estimate); err != nil {
		w.t.Fatal(err)
	}
	if estimate.Input.URL != url || estimate.Car.Make != "TOYOTA" || estimate.Tax.ReferenceNumber != "SIM1" {
		w.t.Fatalf("job %s has another result: %s", id, result)
	}
}

// checkComparison sees that a comparison had the ends of all its children.
func (w *simulation) checkComparison(job *jobs.Job, urls string) {
	var (
		made vehicle.Comparison
		seen map[string]string
	)
	if err := json.Unmarshal(job.Result, &made); err != nil {
		w.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(made.Recommendation), &seen); err != nil {
		w.t.Fatal(err)
	}
	for i, url := range strings.Fields(urls) {
		n := strconv.Itoa(i + 1)
		w.checkEstimate(job.ID, url, []byte(seen["car"+n]))
		report, has := seen["sheet"+n]
		if has != strings.HasSuffix(url, "sheet") || has && report != `{"url":"https://a.example/sheet.jpg"}` && report != string(jobs.Failed) {
			w.t.Fatalf("report of %s: %q", url, report)
		}
	}
}

// checkRest checks that all jobs have ended and all subscribers were notified.
func (w *simulation) checkRest() {
	for _, class := range classes {
		if left, _ := w.server.ZMembers("jobs:active:" + string(class)); len(left) > 0 {
			w.t.Fatalf("still active: %v", left)
		}
	}
	for _, key := range w.server.Keys() {
		slot, ok := strings.CutPrefix(key, "job:{")
		if !ok {
			continue
		}
		slot, id, _ := strings.Cut(slot, "}:")
		job, err := w.store.Get(context.Background(), id)
		if err != nil {
			w.t.Fatal(err)
		}
		left, _ := w.server.SMembers("subscribers:{" + slot + "}:" + id)
		if !job.State.Ended() || len(left) > 0 {
			w.t.Fatalf("%+v, not notified: %v", job, left)
		}
	}
	for parent := range w.subscribed {
		if !w.notified[parent] {
			w.t.Fatalf("%s was not notified", parent)
		}
	}
	if left := w.pending(); len(left) > 0 {
		w.t.Fatalf("still in the queue: %d tasks", len(left))
	}
}

// failedChild reports whether a child of a job failed with a code.
func failedChild(job *jobs.Job, code string) bool {
	for _, child := range job.Children {
		if child.Error != nil && child.Error.Code == code {
			return true
		}
	}
	return false
}

// retries reports whether a step of a job failed as often as it may.
func retries(job *jobs.Job) bool {
	for name, step := range job.Steps {
		policy, _ := tasks.PolicyOf(job.Kind + ":" + name)
		if step.Retries >= policy.MaxRetriesFor(job.Class) {
			return true
		}
	}
	return false
}

// attempts is the most that any step of a job needed.
func attempts(job *jobs.Job) (most int) {
	for _, step := range job.Steps {
		most = max(most, step.Attempt)
	}
	return most
}
