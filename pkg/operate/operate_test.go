package operate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/message"
	"ushuru/pkg/metrics"
	"ushuru/pkg/operate"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

const listing = "https://www.beforward.jp/toyota/axio/bf1/id/1/"

// rig is a service without workers on a real Redis.
type rig struct {
	*operate.Operator

	t       *testing.T
	client  redis.UniversalClient
	engine  *tasks.Engine
	jobs    *jobs.Store
	batches *batch.Store
	hooks   *webhook.Store
	keys    *keys.Store
	log     *bytes.Buffer
}

func start(t *testing.T) *rig {
	t.Helper()
	client := redistest.Open(t, redistest.Start(t).URL).Client()
	r := &rig{
		t: t, client: client, jobs: jobs.NewStore(client), batches: batch.NewStore(client),
		hooks: webhook.NewStore(client, nil), keys: keys.NewStore(client), log: &bytes.Buffer{},
	}
	r.engine = tasks.New(tasks.Options{Redis: client, Jobs: r.jobs, Results: cache.New(client), Webhooks: r.hooks})
	r.Operator = operate.New(operate.Options{Redis: client, Log: slog.New(slog.NewJSONHandler(r.log, nil)), Who: "juma@test"})
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// key issues an API key.
func (r *rig) key(name string) (plain, id string) {
	r.t.Helper()
	plain, key, err := r.CreateKey(r.t.Context(), name, time.Time{})
	r.must(err)
	return plain, key.ID
}

// job submits an estimate for a key.
func (r *rig) job(url, owner string) *jobs.Job {
	r.t.Helper()
	job, err := r.engine.Estimate(r.t.Context(), url, owner, jobs.Interactive)
	r.must(err)
	return job
}

// batch creates a batch with a row that runs and one that waits.
func (r *rig) batch(owner string) (id, job string) {
	r.t.Helper()
	b, err := r.batches.Create(r.t.Context(), batch.New{Owner: owner, Rows: []batch.Row{{URL: listing + "a"}, {URL: listing + "b"}}})
	r.must(err)
	claimed, err := r.batches.ClaimRows(r.t.Context(), b.ID, 1)
	r.must(err)
	running, err := r.engine.Submit(r.t.Context(), tasks.KindEstimate, tasks.EstimateInput{URL: claimed[0].URL}, tasks.Requester{
		Owner: owner, Class: jobs.Bulk, Subscriber: tasks.RowSubscriber(b.ID, 0),
	})
	r.must(err)
	_, err = r.batches.SetRowJobs(r.t.Context(), b.ID, map[int]string{0: running.ID})
	r.must(err)
	return b.ID, running.ID
}

// full leaves Redis no memory, until the function that it returns is called.
func (r *rig) full() (room func()) {
	r.t.Helper()
	r.must(r.client.ConfigSet(r.t.Context(), "maxmemory", "1mb").Err())
	if err := r.client.Set(r.t.Context(), "probe", "x", 0).Err(); err == nil {
		r.t.Fatal("Redis is not full")
	}
	return func() { r.must(r.client.ConfigSet(r.t.Context(), "maxmemory", "0").Err()) }
}

func (r *rig) state(id string) jobs.State {
	r.t.Helper()
	job, err := r.Job(r.t.Context(), id)
	r.must(err)
	return job.State
}

// A revoked key's work ends, also while Redis has no memory left; that of others goes on.
func TestRevocationEndsTheWork(t *testing.T) {
	for _, isFull := range []bool{false, true} {
		r := start(t)
		plain, id := r.key("dealer")
		_, other := r.key("other")
		own, shared := r.job(listing, id), r.job(listing+"shared", id)
		r.job(listing+"shared", other)
		b, row := r.batch(id)
		_, _, err := r.hooks.Add(t.Context(), id, webhook.NewID(), "https://example.com/", webhook.Events())
		r.must(err)
		room := func() {}
		if isFull {
			room = r.full()
		}
		stopped, err := r.RevokeKey(t.Context(), id, false)
		r.must(err)
		if want := (operate.Stopped{Batches: 1, Jobs: 1, Webhooks: 1, Shared: []string{shared.ID}}); !reflect.DeepEqual(stopped, want) {
			t.Errorf("full %v: %+v", isFull, stopped)
		}
		if _, err := r.keys.Verify(t.Context(), plain); !errors.Is(err, keys.ErrInvalid) {
			t.Errorf("full %v: the key is valid: %v", isFull, err)
		}
		if r.state(own.ID) != jobs.Cancelled || r.state(row) != jobs.Cancelled || r.state(shared.ID) != jobs.Queued {
			t.Errorf("full %v: %s, %s, shared %s", isFull, r.state(own.ID), r.state(row), r.state(shared.ID))
		}
		if hooks, err := r.hooks.List(t.Context(), id); err != nil || len(hooks) > 0 {
			t.Errorf("full %v: %v, %v", isFull, hooks, err)
		}
		after, err := r.Batch(t.Context(), b)
		if err != nil || after.Counts[batch.Waiting] > 0 || !isFull && after.Ended.IsZero() {
			t.Errorf("full %v: %+v, %v", isFull, after, err)
		}
		room()
		_, err = r.RevokeKey(t.Context(), id, false)
		r.must(err)
	}
}

func TestRevocationCanKeepTheWork(t *testing.T) {
	r := start(t)
	_, id := r.key("dealer")
	job := r.job(listing, id)
	stopped, err := r.RevokeKey(t.Context(), id, true)
	if err != nil || !reflect.DeepEqual(stopped, operate.Stopped{}) || r.state(job.ID) != jobs.Queued {
		t.Errorf("%+v, %v, %s", stopped, err, r.state(job.ID))
	}
	if _, err := r.RevokeKey(t.Context(), "unknown", false); !errors.Is(err, operate.ErrNotFound) {
		t.Errorf("an unknown key: %v", err)
	}
}

func TestKeysAreRotatedAndLimited(t *testing.T) {
	r := start(t)
	old, id := r.key("dealer")
	if _, _, err := r.CreateKey(t.Context(), "Dealer", time.Time{}); !errors.Is(err, keys.ErrNameTaken) {
		t.Errorf("two keys have one name: %v", err)
	}
	seven, two := 7, 2
	_, err := r.LimitKey(t.Context(), id, operate.LimitChange{PerMinute: &seven})
	r.must(err)
	key, err := r.LimitKey(t.Context(), id, operate.LimitChange{Jobs: &two})
	if err != nil || key.Limits.PerMinute != 7 || key.Limits.Jobs != 2 {
		t.Errorf("%+v, %v", key.Limits, err)
	}
	plain, rotated, err := r.RotateKey(t.Context(), id, time.Hour)
	if err != nil || rotated.ID != id || rotated.Limits != key.Limits {
		t.Errorf("%+v, %v", rotated, err)
	}
	for _, valid := range []string{old, plain} {
		if got, err := r.keys.Verify(t.Context(), valid); err != nil || got.ID != id {
			t.Errorf("%+v, %v", got, err)
		}
	}
	_, _, err = r.RotateKey(t.Context(), id, 0)
	r.must(err)
	for _, ended := range []string{old, plain} {
		if _, err := r.keys.Verify(t.Context(), ended); !errors.Is(err, keys.ErrInvalid) {
			t.Errorf("an old key is valid: %v", err)
		}
	}
	if all, err := r.keys.List(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	short, expired, err := r.CreateKey(t.Context(), "short", time.Now().Add(-time.Minute))
	r.must(err)
	if _, err := r.keys.Verify(t.Context(), short); !errors.Is(err, keys.ErrInvalid) || expired.IsValid(time.Now()) {
		t.Errorf("an expired key is valid: %v", err)
	}
}

func TestJobsAreListedCancelledAndRetried(t *testing.T) {
	r := start(t)
	_, id := r.key("dealer")
	job := r.job(listing, id)
	if found, err := r.Jobs(t.Context(), operate.JobFilter{Step: "scrape"}); err != nil || len(found) != 1 || found[0].ID != job.ID {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := r.RetryJob(t.Context(), job.ID); !errors.Is(err, operate.ErrNotFailed) {
		t.Errorf("a running job: %v", err)
	}
	cancelled, err := r.CancelJob(t.Context(), job.ID)
	if err != nil || cancelled.State != jobs.Cancelled {
		t.Errorf("%+v, %v", cancelled, err)
	}
	if _, err := r.CancelJob(t.Context(), job.ID); !errors.Is(err, operate.ErrEnded) {
		t.Errorf("twice: %v", err)
	}
	if found, err := r.Jobs(t.Context(), operate.JobFilter{State: jobs.Cancelled}); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	again, err := r.RetryJob(t.Context(), job.ID)
	if err != nil || again.ID == job.ID || string(again.Input) != string(job.Input) || again.Owner != id {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := r.CancelJob(t.Context(), "unknown"); !errors.Is(err, operate.ErrNotFound) {
		t.Errorf("an unknown job: %v", err)
	}
}

// fails ends a job with an error, as a worker does.
func (r *rig) fails(job *jobs.Job, code string) {
	r.t.Helper()
	r.must(r.engine.End(r.t.Context(), job, jobs.End{State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: code}}}))
	counts := metrics.New(metrics.Options{
		Codes: []string{code}, Recorder: metrics.NewRecorder(metrics.RecorderOptions{Redis: r.client}),
	})
	counts.Step(metrics.Step{Job: job.ID, Kind: job.Kind, Step: "scrape", Outcome: metrics.Failed, Code: code})
	counts.Recorder().Write(r.t.Context())
}

// All failed jobs with an error are retried, more than one key lists, each input once, and no
// others. The audit trail has one entry for all.
func TestFailedJobsAreRetried(t *testing.T) {
	r := start(t)
	_, id := r.key("dealer")
	_, other := r.key("other")
	for url, code := range map[string]string{"a": "fetch_timeout", "b": "fetch_timeout", "c": "listing_gone"} {
		job := r.job(listing+url, id)
		r.job(listing+url, other) // asks for the same
		r.fails(job, code)
	}
	const more = 1100 // than a list of a key has
	for n := range more {
		r.fails(r.job(listing+strconv.Itoa(n), id), "fetch_timeout")
	}
	r.job(listing+"d", id) // runs
	if got, err := r.RetryFailed(t.Context(), operate.JobFilter{Code: "fetch_timeout", Limit: 1}); err != nil || got.Jobs != 1 {
		t.Errorf("with a limit of 1: got %+v, %v, want 1", got, err)
	}
	if got, err := r.RetryFailed(t.Context(), operate.JobFilter{Code: "fetch_timeout"}); err != nil || got.Jobs != more+1 {
		t.Errorf("got %+v, %v, want the other %d", got, err, more+1)
	}
	if got, err := r.RetryFailed(t.Context(), operate.JobFilter{Code: "fetch_timeout"}); err != nil || got.Jobs != 0 {
		t.Errorf("a second time: got %+v, %v, want none", got, err)
	}
	if active, err := r.Jobs(t.Context(), operate.JobFilter{}); err != nil || len(active) != more+3 {
		t.Errorf("got %d jobs that run, %v, want %d", len(active), err, more+3)
	}
	actions, err := r.Actions(t.Context(), 1000)
	r.must(err)
	if retries := slices.DeleteFunc(actions, func(a operate.Action) bool { return a.Action != "jobs retry" }); len(retries) != 3 {
		t.Errorf("got %d actions for three retries: %+v", len(retries), retries)
	}
}

// Rows of batches that failed with an error wait again, and no others.
func TestFailedRowsOfBatchesAreRetried(t *testing.T) {
	r := start(t)
	_, id := r.key("dealer")
	rows := make([]batch.Row, 6)
	for i := range rows {
		rows[i].URL = listing + strconv.Itoa(i)
	}
	b, err := r.batches.Create(t.Context(), batch.New{Owner: id, Rows: rows})
	r.must(err)
	_, err = r.batches.ClaimRows(t.Context(), b.ID, 5)
	r.must(err)
	for row, code := range []string{"fetch_timeout", "listing_gone", "fetch_timeout", "listing_gone", "fetch_timeout"} {
		_, err := r.batches.Fail(t.Context(), b.ID, row, &jobs.Error{Notice: message.Notice{Code: code}})
		r.must(err)
	}
	if got, err := r.RetryFailed(t.Context(), operate.JobFilter{Code: "fetch_timeout", Step: "scrape"}); err != nil || got.Rows != 0 {
		t.Errorf("of one step: got %+v, %v, want no rows", got, err)
	}
	for _, want := range []int{3, 0} {
		if got, err := r.RetryFailed(t.Context(), operate.JobFilter{Code: "fetch_timeout"}); err != nil || got.Rows != want {
			t.Errorf("got %+v, %v, want %d rows", got, err, want)
		}
	}
	after, err := r.Batch(t.Context(), b.ID)
	if err != nil || after.Counts[batch.Waiting] != 4 || after.Counts[batch.Failed] != 2 {
		t.Errorf("got %v, %v, want 4 rows that wait and 2 that failed", after.Counts, err)
	}
	again, err := r.batches.ClaimRows(t.Context(), b.ID, 10)
	if err != nil || len(again) != 4 || again[0].Index != 0 || again[1].Index != 2 || again[2].Index != 4 {
		t.Errorf("got rows %+v, %v, want 0, 2, 4 and 5", again, err)
	}
}

// All failed deliveries are sent again, also when one of them is deleted meanwhile.
func TestFailedDeliveriesAreSentAgain(t *testing.T) {
	r := start(t)
	_, id := r.key("dealer")
	e, _, err := r.hooks.Add(t.Context(), id, webhook.NewID(), "https://example.com/", webhook.Events())
	r.must(err)
	for _, subject := range []string{"one", "two", "three"} {
		d, err := r.hooks.Test(t.Context(), id, e.ID, subject, time.Now())
		r.must(err)
		if subject == "three" {
			continue // is not sent yet
		}
		record := "delivery:{" + d.ID + "}"
		failed := strings.Replace(r.client.Get(t.Context(), record).Val(), `"pending"`, `"failed"`, 1)
		r.must(r.client.Set(t.Context(), record, failed, time.Hour).Err())
	}
	for _, want := range []int{2, 0} {
		if n, err := r.RetryDeliveries(t.Context(), e.ID, ""); err != nil || n != want {
			t.Errorf("%d are sent again, %v; want %d", n, err, want)
		}
	}
	if _, err := r.RetryDeliveries(t.Context(), e.ID, "unknown"); !errors.Is(err, operate.ErrNotFound) {
		t.Errorf("an unknown delivery: %v", err)
	}
}

func TestBatchesAreCancelled(t *testing.T) {
	r := start(t)
	_, id := r.key("dealer")
	b, row := r.batch(id)
	if all, err := r.Batches(t.Context(), operate.BatchFilter{Running: true}); err != nil || len(all) != 1 || all[0].ID != b {
		t.Errorf("%v, %v", all, err)
	}
	after, err := r.CancelBatch(t.Context(), b)
	if err != nil || after.Ended.IsZero() || after.Counts[batch.Cancelled] != 2 {
		t.Errorf("%+v, %v", after, err)
	}
	if r.state(row) != jobs.Cancelled {
		t.Errorf("the row's job is %s", r.state(row))
	}
	if after, err := r.RetryBatch(t.Context(), b); err != nil || after.Counts[batch.Waiting] != 2 {
		t.Errorf("%+v, %v", after, err)
	}
}

func TestCachedResultsAreDropped(t *testing.T) {
	r := start(t)
	results, expiry := cache.New(r.client), time.Now().Add(time.Hour)
	put := func(key cache.Key, url string) {
		value, err := json.Marshal(map[string]any{"cached": false, "car": map[string]any{"url": url}})
		r.must(err)
		r.must(results.Put(t.Context(), key, value, expiry))
	}
	mine, compared, other := cache.EstimateKey(listing), cache.CompareKey(listing, listing+"2", "en"), cache.EstimateKey(listing+"3")
	put(mine, listing)
	put(cache.LabelKey(mine, "a label"), listing)
	put(compared, listing)
	put(other, listing+"3")
	dropped, err := r.DropURL(t.Context(), listing+"?utm_source=x")
	if err != nil || dropped.Results != 3 {
		t.Errorf("%+v, %v", dropped, err)
	}
	if data, err := results.Get(t.Context(), mine); err != nil || data != nil {
		t.Errorf("it is still cached: %v", err)
	}
	if data, err := results.Get(t.Context(), other); err != nil || data == nil {
		t.Errorf("another listing's: %v", err)
	}
}

// What is dropped of a vehicle are the results with it, and no others.
func TestResultsOfAVehicleAreDropped(t *testing.T) {
	r := start(t)
	results := cache.New(r.client)
	car := vehicle.Matched{
		Make: "TOYOTA", ModelBody: "COROLLA AXIO", MatchType: vehicle.ExactCode, YOM: 2012, Country: "JAPAN", FuelType: "PETROL",
		CapacityBand: "1001 - 1500 CC",
	}
	older := car
	older.YOM = 2010
	for url, matched := range map[string]vehicle.Matched{"a": car, "b": older} {
		value, err := json.Marshal(map[string]any{"cached": false, "car": map[string]any{"match": matched}})
		r.must(err)
		r.must(results.Put(t.Context(), cache.EstimateKey(listing+url), value, time.Now().Add(time.Hour)))
	}
	if _, err := r.DropTuple(t.Context(), tra.Tuple{Make: "TOYOTA"}); !errors.Is(err, operate.ErrTuple) {
		t.Errorf("all cars of a make: %v", err)
	}
	for _, drop := range []struct {
		tuple tra.Tuple
		want  int
	}{
		{tra.Tuple{Make: "TOYOTA", ModelBody: "COROLLA AXIO", Fuel: "DIESEL"}, 0},
		{tra.Tuple{
			Make: "TOYOTA", ModelBody: "COROLLA AXIO", YOM: 2012, Country: "JAPAN", Fuel: "PETROL", Capacity: "1001 - 1500 CC",
		}, 1},
		{tra.Tuple{Make: "TOYOTA", ModelBody: "COROLLA AXIO"}, 1}, // the other year
	} {
		if dropped, err := r.DropTuple(t.Context(), drop.tuple); err != nil || dropped.Results != drop.want {
			t.Errorf("%+v: %+v, %v; want %d", drop.tuple, dropped, err, drop.want)
		}
	}
}

func TestSitesAndTheBudget(t *testing.T) {
	r := start(t)
	hosts, err := r.PauseSite(t.Context(), "BE FORWARD", time.Hour)
	if err != nil || !strings.Contains(strings.Join(hosts, " "), "www.beforward.jp") {
		t.Errorf("%v, %v", hosts, err)
	}
	if pauses, err := r.SitePauses(t.Context()); err != nil || len(pauses) != len(hosts) || !pauses[0].ByOperator {
		t.Errorf("%v, %v", pauses, err)
	}
	if n, err := r.ResumeSite(t.Context(), "https://www.beforward.jp/x"); err != nil || n != len(hosts) {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := r.PauseSite(t.Context(), "nowhere", time.Hour); !errors.Is(err, operate.ErrNoSite) {
		t.Errorf("an unknown site: %v", err)
	}
	r.must(r.SetAIBudget(t.Context(), 5))
	if b, err := r.AIBudget(t.Context(), 100); err != nil || b.Limit != 5 || !b.Set {
		t.Errorf("%+v, %v", b, err)
	}
	r.must(r.ResetAIBudget(t.Context()))
	is := jobs.Presence{Roles: []string{"ai"}, Models: []string{"large"}, DailyTokens: 70}
	r.must(jobs.NewStore(r.client).Heartbeat(t.Context(), "w", is, nil))
	if b, err := r.AIBudget(t.Context(), 100); err != nil || b.Limit != 70 {
		t.Errorf("the limit is not that of the workers: %+v, %v", b, err)
	}
	r.must(jobs.NewStore(r.client).Deregister(t.Context(), "w", nil))
	if b, err := r.AIBudget(t.Context(), 100); err != nil || b.Limit != 100 || b.Set {
		t.Errorf("%+v, %v", b, err)
	}
}

// Every action is in the log and in Redis with who did it, also one that failed.
func TestActionsAreRecorded(t *testing.T) {
	r := start(t)
	_, _ = r.As("asha@test").CancelJob(t.Context(), "unknown")
	r.must(r.ResetBreaker(t.Context()))
	actions, err := r.Actions(t.Context(), 10)
	if err != nil || len(actions) != 2 || actions[0].Action != "breaker reset" || actions[0].Who != "juma@test" ||
		actions[1].Who != "asha@test" || actions[1].Error == "" {
		t.Errorf("%+v, %v", actions, err)
	}
	if log := r.log.String(); !strings.Contains(log, `"who":"asha@test"`) || !strings.Contains(log, `"target":"unknown"`) {
		t.Error(log)
	}
}

// Of 20,000 jobs that ended, 3,000 and 2,000 rows of a batch among them with one error, one command
// tries all of these again, and no others.
func TestAllFailuresAmongManyAreRetried(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	const failed, rows, others = 3000, 2000, 15_000
	r := start(t)
	_, id := r.key("dealer")
	begun := time.Now()
	for n := range failed + others {
		code := "fetch_timeout"
		if n >= failed {
			code = []string{"listing_gone", "listing_blocked", "fetch_failed"}[n%3]
		}
		r.fails(r.job(listing+strconv.Itoa(n), id), code)
	}
	table := make([]batch.Row, rows)
	for i := range table {
		table[i].URL = listing + "row" + strconv.Itoa(i)
	}
	b, err := r.batches.Create(t.Context(), batch.New{Owner: id, Rows: table})
	r.must(err)
	for claimed := 0; claimed < rows; {
		got, err := r.batches.ClaimRows(t.Context(), b.ID, rows)
		r.must(err)
		for _, row := range got {
			_, err := r.batches.Fail(t.Context(), b.ID, row.Index, &jobs.Error{Notice: message.Notice{Code: "fetch_timeout"}})
			r.must(err)
		}
		claimed += len(got)
	}
	made := time.Since(begun)
	begun = time.Now()
	got, err := r.RetryFailed(t.Context(), operate.JobFilter{Code: "fetch_timeout"})
	if err != nil || got.Jobs != failed || got.Rows != rows || got.LeftOut != 0 {
		t.Errorf("got %+v, %v, want %d jobs and %d rows", got, err, failed, rows)
	}
	t.Logf("%+v of %d in %v, made in %v", got, failed+others+rows, time.Since(begun), made)
}
