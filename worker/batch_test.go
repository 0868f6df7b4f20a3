package worker

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

// dispatcherRig is a feeder and what it feeds; its jobs end when the test says so.
type dispatcherRig struct {
	*dispatcher

	jobs *jobs.Store
	t    *testing.T
	conn *redisx.Conn
}

func newDispatcherRig(t *testing.T, conn *redisx.Conn) *dispatcherRig {
	t.Helper()
	client, log := conn.Client(), slog.New(slog.DiscardHandler)
	batches, webhooks := batch.NewStore(client), webhook.NewStore(client, nil)
	d := &dispatcher{
		redis: client, batches: batches, webhooks: webhooks, bytes: pace.NewAccounts(client, pace.KindBytes),
		window: 4, log: log, wake: make(chan struct{}, 1),
	}
	d.engine = enginetest.NewEngine(client, enginetest.WithNotifier(tasks.SubscriberBatch, d.onJobEnded))
	return &dispatcherRig{d, jobs.NewStore(client), t, conn}
}

func (f *dispatcherRig) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// batch makes a batch of so many listings of a site of its own.
func (f *dispatcherRig) batch(owner string, n int) string {
	f.t.Helper()
	rows := make([]batch.Row, n)
	for i := range rows {
		rows[i] = batch.Row{Number: i + 1, URL: fmt.Sprintf("https://cars.example/%s/%d", owner, i)}
	}
	b, err := f.batches.Create(f.t.Context(), batch.New{Owner: owner, Rows: rows})
	f.must(err)
	return b.ID
}

func (f *dispatcherRig) items(id string) []batch.Item {
	f.t.Helper()
	reader, err := f.batches.Read(f.t.Context(), id)
	f.must(err)
	items, _, err := reader.Next(f.t.Context(), 0, batch.MaxRows, "", true)
	f.must(err)
	return items
}

// states is the first letter of each row's state.
func (f *dispatcherRig) states(id string) string {
	f.t.Helper()
	var all strings.Builder
	for _, item := range f.items(id) {
		all.WriteByte(item.State[0])
	}
	return all.String()
}

func (f *dispatcherRig) is(what string, got, want any) {
	f.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// endJob ends the job of a row and notifies all subscribers.
func (f *dispatcherRig) endJob(item batch.Item, failure *jobs.Error) {
	f.t.Helper()
	how := jobs.End{State: jobs.Failed, Error: failure}
	if failure == nil {
		how = jobs.End{State: jobs.Succeeded, Result: json.RawMessage(fmt.Sprintf(`{"url":%q}`, item.URL))}
	}
	job, err := f.jobs.Get(f.t.Context(), item.Job)
	f.must(err)
	f.must(f.engine.End(f.t.Context(), job, how))
}

func TestDispatcherOnEveryRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		for name, test := range map[string]func(*dispatcherRig){
			"no more running than the window holds": dispatchedThroughTheWindow,
			"keys have their turns":                 fairBetweenKeys,
			"what is known needs no job":            cachedNeedsNoJob,
			"a running job is shared":               runningJobIsShared,
			"a row whose worker died goes on":       crashedDispatcher,
			"an end without notification is found":  endWithoutNotification,
			"a row outlasts the job of a person":    rowOutlastsPersonsJob,
			"promised room is used":                 promisedRoomIsUsed,
		} {
			t.Run(name, func(t *testing.T) {
				f := newDispatcherRig(t, conn)
				f.must(conn.Client().Del(t.Context(), "batches:open").Err()) // those of other tests
				test(f)
			})
		}
	})
}

func dispatchedThroughTheWindow(f *dispatcherRig) {
	ctx := f.t.Context()
	id := f.batch(f.t.Name(), 10)
	f.must(f.dispatch(ctx))
	f.must(f.dispatch(ctx))
	f.is("rows", f.states(id), "rrrrwwwwww")
	items := f.items(id)
	f.endJob(items[2], nil)
	f.endJob(items[0], &jobs.Error{Notice: message.Notice{Code: "no_match", Message: "None fits."}})
	f.is("rows", f.states(id), "frsrwwwwww")
	f.must(f.dispatch(ctx))
	f.is("rows", f.states(id), "frsrrrwwww")
	for range 10 {
		for _, item := range f.items(id) {
			if item.State == batch.Running {
				f.endJob(item, nil)
				f.must(f.engine.Advance(ctx, item.Job)) // notified twice
			}
		}
		f.must(f.dispatch(ctx))
	}
	f.is("rows", f.states(id), "fsssssssss")
	b, err := f.batches.Get(ctx, id)
	f.must(err)
	f.is("ended", b.Ended.IsZero(), false)
	for _, item := range f.items(id)[1:] {
		f.is("result", string(item.Result), fmt.Sprintf(`{"url":%q}`, item.URL))
	}
	f.is("reason", f.items(id)[0].Error.Code, "no_match")
}

// A list that fills the account of its key to the last byte has no row that fails for room.
func promisedRoomIsUsed(f *dispatcherRig) {
	ctx, owner := f.t.Context(), "room"
	id := f.batch(owner, 6)
	rows := make([]batch.Row, 6)
	for i, item := range f.items(id) {
		rows[i] = item.Row
	}
	room := batch.Room(id, rows)
	limit := room[0].Size + room[1].Size
	_, fits, err := f.bytes.Take(ctx, owner, limit, room...)
	f.must(err)
	f.is("the list fits", fits, true)
	f.endAll(id)
	f.is("rows", f.states(id), "ssssss")
	var account pace.Account
	testenv.Await(f.t, "the promise ends with the batch", func() (any, bool) {
		account, err = f.bytes.Read(ctx, pace.Holder{Whole: owner})
		return account, err != nil || account.Promised == 0
	})
	f.must(err)
	if account.Used <= room[0].Size || account.Used > limit/2 {
		f.t.Errorf("got %+v, want what small results take, of %d promised", account, limit)
	}
}

func fairBetweenKeys(f *dispatcherRig) {
	large := f.batch(f.t.Name()+"large", 10)
	small := f.batch(f.t.Name()+"small", 3)
	f.must(f.dispatch(f.t.Context()))
	f.is("large", f.states(large), "rrwwwwwwww")
	f.is("small", f.states(small), "rrw")
}

func cachedNeedsNoJob(f *dispatcherRig) {
	ctx := f.t.Context()
	id := f.batch(f.t.Name(), 6)
	for _, item := range f.items(id) {
		answer := fmt.Sprintf(`{"url":%q,"cached":false}`, item.URL)
		f.must(cache.New(f.conn.Client()).Put(ctx, cache.EstimateKey(item.URL), []byte(answer), time.Now().Add(time.Hour)))
	}
	f.must(f.dispatch(ctx))
	f.is("rows", f.states(id), "ssssss")
	f.is("result", string(f.items(id)[5].Result), fmt.Sprintf(`{"url":%q,"cached":true}`, f.items(id)[5].URL))
}

func runningJobIsShared(f *dispatcherRig) {
	ctx := f.t.Context()
	id, other := f.batch(f.t.Name(), 1), f.batch(f.t.Name(), 1) // of the same listing
	job, err := f.engine.Estimate(ctx, f.items(id)[0].URL, "a person", jobs.Interactive)
	f.must(err)
	f.must(f.dispatch(ctx))
	f.is("job", f.items(id)[0].Job, job.ID)
	f.is("job", f.items(other)[0].Job, job.ID)
	f.endJob(f.items(id)[0], nil)
	f.is("rows", f.states(id)+f.states(other), "ss")
}

func crashedDispatcher(f *dispatcherRig) {
	ctx := f.t.Context()
	id := f.batch(f.t.Name(), 2)
	taken, err := f.batches.ClaimRows(ctx, id, 2)
	f.must(err)
	for range 2 { // begun twice
		ids, err := f.submitRows(ctx, taken[1:2], batch.ActiveBatch{Owner: f.t.Name()}, 1)
		f.must(err)
		f.must(f.setJobs(ctx, id, ids))
	}
	items := f.items(id)
	f.is("no job, a job", fmt.Sprint(items[0].Job == "", items[1].Job == ""), "true false")
	for _, row := range f.stuck(id) {
		f.must(f.recoverRow(ctx, row, batch.ActiveBatch{Owner: f.t.Name()}))
	}
	again := f.items(id)
	f.is("a job each", again[0].Job != "" && again[1].Job == items[1].Job, true)
	f.endJob(again[0], nil)
	f.endJob(again[1], nil)
	f.is("rows", f.states(id), "ss")
}

func (f *dispatcherRig) stuck(id string) []batch.ClaimedRow {
	f.t.Helper()
	rows, err := f.batches.ListStuck(f.t.Context(), id, 0)
	f.must(err)
	return rows
}

func endWithoutNotification(f *dispatcherRig) {
	ctx := f.t.Context()
	id := f.batch(f.t.Name(), 3)
	f.must(f.dispatch(ctx))
	items := f.items(id)
	job, err := f.jobs.Get(ctx, items[0].Job)
	f.must(err)
	_, _, err = f.jobs.End(ctx, job, jobs.End{State: jobs.Succeeded, Result: json.RawMessage(`{}`)}) // and the worker dies
	f.must(err)
	f.must(f.conn.Client().Del(ctx, "job:{"+items[1].Job[26:]+"}:"+items[1].Job).Err()) // kept no longer
	for _, row := range f.stuck(id) {
		f.must(f.recoverRow(ctx, row, batch.ActiveBatch{Owner: f.t.Name()}))
	}
	f.is("rows", f.states(id), "srr")
	again := f.items(id)
	f.is("another job", again[1].Job != "" && again[1].Job != items[1].Job, true)
	f.is("the same job", again[2].Job, items[2].Job)
}

// rowOutlastsPersonsJob: a row joins the job of a person, who is told soon that the site
// pauses, or does not answer, or that it takes too long. The row gets a job of its own, which waits.
func rowOutlastsPersonsJob(f *dispatcherRig) {
	for _, failure := range []*jobs.Error{
		tasks.JobError(tasks.SitePaused(time.Hour, tasks.OfferPage, nil)),
		{Notice: message.New("error/fetch_timeout", nil)},
		{Notice: message.New("error/authority_unavailable", nil)},
		tasks.TimedOut(),
	} {
		f.rowOutlasts(failure)
	}
}

func (f *dispatcherRig) rowOutlasts(failure *jobs.Error) {
	f.t.Helper()
	ctx, owner := f.t.Context(), f.t.Name()+failure.Code
	id := f.batch(owner, 1)
	url := f.items(id)[0].URL
	persons, err := f.engine.Estimate(ctx, url, "a person", jobs.Interactive)
	f.must(err)
	f.must(f.dispatch(ctx))
	f.is("the job that the row joined", f.items(id)[0].Job, persons.ID)
	f.endJob(f.items(id)[0], failure)
	f.is("after "+failure.Code+" of the person's job", f.states(id), "r")
	row := batch.ClaimedRow{Batch: id, Index: 0, Row: batch.Row{Number: 1, URL: url}, Job: persons.ID}
	f.must(f.recoverRow(ctx, row, batch.ActiveBatch{Owner: owner}))
	own := f.items(id)[0]
	if own.Job == persons.ID || own.Job == "" {
		f.t.Fatalf("the row has the job %q", own.Job)
	}
	job, err := f.jobs.Get(ctx, own.Job)
	f.must(err)
	f.is("the job waits", tasks.IsPatient(job), true)
	f.endJob(own, nil)
	f.is("in the end", f.states(id), "s")
}

// hooked is the key that has an endpoint.
const hooked = "key1"

// completions are the events batch.completed of an endpoint, newest first.
func (f *dispatcherRig) completions(endpoint string) (found []batchCompleted) {
	f.t.Helper()
	deliveries, err := f.webhooks.Deliveries(f.t.Context(), hooked, endpoint, 10)
	f.must(err)
	for _, d := range deliveries {
		var message webhook.Message
		var data batchCompleted
		f.must(json.Unmarshal(d.Payload, &message))
		if message.Type == "webhook.verification" {
			continue // the endpoint has not answered yet
		}
		f.must(json.Unmarshal(message.Data, &data))
		f.is("event", message.Type, webhook.BatchCompleted)
		found = append(found, data)
	}
	return found
}

// endAll ends the running rows until no row waits.
func (f *dispatcherRig) endAll(id string) {
	f.t.Helper()
	for range 10 {
		f.must(f.dispatch(f.t.Context()))
		for _, item := range f.items(id) {
			if item.State == batch.Running {
				f.endJob(item, nil)
			}
		}
	}
}

func TestTheEndOfABatchEmitsAnEvent(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newDispatcherRig(t, conn)
		endpoint, _, err := f.webhooks.Add(t.Context(), hooked, webhook.NewID(), "https://receiver.example/", []string{webhook.BatchCompleted})
		f.must(err)
		id := f.batch(hooked, 3)
		f.must(f.checkBatches(t.Context()))
		f.is("before the end", len(f.completions(endpoint.ID)), 0)
		f.endAll(id)
		for range 3 { // the sweep finds it ended, and says so again
			f.must(conn.Client().Del(t.Context(), "batches:checked").Err())
			f.must(f.checkBatches(t.Context()))
		}
		events := f.completions(endpoint.ID)
		f.is("events", len(events), 1)
		f.is("state", events[0].State, "completed")
		f.is("rows", events[0].Counts[batch.Succeeded], 3)
	})
}

// The worker that noted the last row died before it could tell anybody.
func TestAnUnannouncedEndIsFound(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newDispatcherRig(t, conn)
		endpoint, _, err := f.webhooks.Add(t.Context(), hooked, webhook.NewID(), "https://receiver.example/", []string{webhook.BatchCompleted})
		f.must(err)
		id := f.batch(hooked, 1)
		f.must(f.dispatch(t.Context()))
		_, err = f.batches.Succeed(t.Context(), id, 0, json.RawMessage(`{}`))
		f.must(err)
		f.is("events", len(f.completions(endpoint.ID)), 0)
		f.must(f.checkBatches(t.Context()))
		f.is("events", len(f.completions(endpoint.ID)), 1)
	})
}

// The endpoint of a batch gets the event of its end, and of no other batch.
func TestTheWebhookOfABatchGetsItsEnd(t *testing.T) {
	f := newDispatcherRig(t, redistest.Open(t, redistest.Start(t).URL))
	endpoint, _, err := f.webhooks.Add(t.Context(), hooked, webhook.NewID(), "https://receiver.example/", []string{})
	f.must(err)
	f.endAll(f.batch(hooked, 1))
	f.is("events", len(f.completions(endpoint.ID)), 0)
	named, err := f.batches.Create(t.Context(), batch.New{
		Owner: hooked, Rows: []batch.Row{{Number: 1, URL: "https://cars.example/named"}}, Options: batch.Options{Webhook: endpoint.ID},
	})
	f.must(err)
	f.endAll(named.ID)
	events := f.completions(endpoint.ID)
	f.is("events", len(events), 1)
	f.is("batch", events[0].ID, named.ID)
}

// A row whose job has succeeded, and whose result is lost, stays running: it gets another job.
func TestARowIsNotEndedWithoutItsResult(t *testing.T) {
	t.Parallel()
	f := newDispatcherRig(t, redistest.Open(t, redistest.Start(t).URL))
	id := f.batch(hooked, 1)
	f.must(f.dispatch(t.Context()))
	f.must(f.record(t.Context(), id, 0, &jobs.Job{State: jobs.Succeeded}))
	f.is("state", f.items(id)[0].State, batch.Running)
}

func TestShares(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open   []batch.ActiveBatch
		window int
		want   map[string]int
	}{
		"no batch waits":      {[]batch.ActiveBatch{{ID: "a", Running: 3}}, 10, map[string]int{}},
		"one alone has all":   {[]batch.ActiveBatch{{ID: "a", Waiting: 100}}, 10, map[string]int{"a": 10}},
		"the window is full":  {[]batch.ActiveBatch{{ID: "a", Waiting: 100, Running: 10}}, 10, map[string]int{}},
		"parked ones":         {[]batch.ActiveBatch{{ID: "a", Waiting: 100, Running: 20, Parked: 17}}, 10, map[string]int{"a": 7}},
		"too many parked":     {[]batch.ActiveBatch{{ID: "a", Waiting: 100, Running: 104, Parked: 104}}, 10, map[string]int{"a": 6}},
		"and more than full":  {[]batch.ActiveBatch{{ID: "a", Waiting: 100, Running: 20}}, 10, map[string]int{}},
		"half each":           {[]batch.ActiveBatch{{ID: "a", Owner: "x", Waiting: 100}, {ID: "b", Owner: "y", Waiting: 100}}, 10, map[string]int{"a": 5, "b": 5}},
		"a small one first":   {[]batch.ActiveBatch{{ID: "a", Owner: "x", Waiting: 100}, {ID: "b", Owner: "y", Waiting: 2}}, 10, map[string]int{"a": 8, "b": 2}},
		"and another comes":   {[]batch.ActiveBatch{{ID: "a", Owner: "x", Waiting: 100, Running: 20}, {ID: "b", Owner: "y", Waiting: 9}}, 20, map[string]int{"b": 2}},
		"who has less":        {[]batch.ActiveBatch{{ID: "a", Owner: "x", Waiting: 100, Running: 8}, {ID: "b", Owner: "y", Waiting: 100}}, 10, map[string]int{"b": 2}},
		"by key, not batches": {[]batch.ActiveBatch{{ID: "a", Owner: "x", Waiting: 9}, {ID: "b", Owner: "x", Waiting: 9}, {ID: "c", Owner: "y", Waiting: 9}}, 8, map[string]int{"a": 2, "b": 2, "c": 4}},
		"in turn":             {[]batch.ActiveBatch{{ID: "later", Owner: "x", Waiting: 9}, {ID: "just now", Owner: "y", Waiting: 9}}, 1, map[string]int{"later": 1}},
		"ended ones":          {[]batch.ActiveBatch{{ID: "a", Ended: true}, {ID: "b", Missing: true}}, 5, map[string]int{}},
	} {
		if got := fairShares(c.open, c.window); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Whatever waits: the window is exceeded only for keys with less than what is reserved
// for them, and is full while a row waits;
// and no waiting key has two running rows fewer than another key got.
func TestSharesAreFair(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		open := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) batch.ActiveBatch {
			return batch.ActiveBatch{
				Owner:   rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "owner"),
				Waiting: rapid.IntRange(0, 20).Draw(t, "waiting"), Running: rapid.IntRange(0, 20).Draw(t, "running"),
			}
		}), 0, 8).Draw(t, "open")
		for i := range open {
			open[i].ID = strconv.Itoa(i)
		}
		window := rapid.IntRange(0, 60).Draw(t, "window")
		shares := fairShares(open, window)
		running, waiting, given := 0, 0, 0
		ofKey, got, left := map[string]int{}, map[string]int{}, map[string]int{}
		for _, b := range open {
			n := shares[b.ID]
			if n > b.Waiting {
				t.Fatalf("%d of %d that wait", n, b.Waiting)
			}
			running += b.Running
			waiting += b.Waiting
			given += n
			ofKey[b.Owner] += b.Running + n
			got[b.Owner] += n
			left[b.Owner] += b.Waiting - n
		}
		reserved := 0 // for keys whose rows wait while others fill the window
		for owner, n := range left {
			if least := min(window/reservedPart, ofKey[owner]+n); ofKey[owner] < least {
				t.Fatalf("%s has %d, want at least %d", owner, ofKey[owner], least)
			}
			if got[owner] > 0 && ofKey[owner] <= window/reservedPart {
				reserved += got[owner]
			}
		}
		if least := max(min(window-running, waiting), 0); given < least || given > least+reserved {
			t.Fatalf("%d given, want %d, and at most %d more", given, least, reserved)
		}
		for poor := range left {
			for rich := range got {
				if left[poor] > 0 && got[rich] > 0 && ofKey[rich] > ofKey[poor]+1 {
					t.Fatalf("%s has %d and got %d; %s has %d and waits", rich, ofKey[rich], got[rich], poor, ofKey[poor])
				}
			}
		}
	})
}
