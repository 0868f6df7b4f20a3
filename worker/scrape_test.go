package worker

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/testenv"
	"ushuru/tasks"
)

// personsJob and rowsJob are the jobs of a person and of a batch.
func personsJob() *jobs.Job {
	return &jobs.Job{Created: time.Now(), Deadline: time.Now().Add(10 * time.Minute)}
}

func rowsJob() *jobs.Job {
	now := time.Now()
	return &jobs.Job{Class: jobs.Bulk, Created: now, Deadline: now.Add(24 * time.Hour)}
}

func TestAHostThatIsBusyCostsNoRetry(t *testing.T) {
	t.Parallel()
	for _, job := range []*jobs.Job{personsJob(), rowsJob()} {
		err := pageFailure(&fetch.Error{Notice: message.Notice{Code: fetch.HostBusy, Message: "Later."}, Retryable: true, Wait: time.Minute}, job, "")
		if gate, ok := errors.AsType[*tasks.SnoozeError](err); !ok || gate.After != time.Minute || tasks.IsFailure(err) {
			t.Errorf("%v", err)
		}
		if failure := tasks.JobError(err); failure.Code != fetch.HostBusy || failure.Message != "Later." {
			t.Errorf("a job that runs out of time meanwhile says %v", failure)
		}
	}
}

// A page that takes too long is read by a second worker, and not by a third.
func TestAPageThatTakesTooLongIsReadTwice(t *testing.T) {
	t.Parallel()
	for retries, permanent := range []bool{false, true} {
		job := personsJob()
		job.Steps = map[string]jobs.Step{tasks.StepScrape: {Retries: retries}}
		slow := &fetch.Error{Notice: message.New("error/page_unreadable.slow", nil), Retryable: true}
		failure, ok := errors.AsType[*tasks.StepError](pageFailure(notAgain(slow, job), job, tasks.OfferPage))
		if !ok || failure.Permanent != permanent {
			t.Errorf("after %d retries: got %v, want permanent %v", retries, failure, permanent)
		}
	}
}

// A person learns at once of a long pause; a batch waits, which costs no retry.
func TestPersonsLearnOfAPauseAndBatchesLoseNoRetry(t *testing.T) {
	t.Parallel()
	for _, code := range []string{fetch.HostBusy, "listing_blocked", "sheet_blocked"} {
		refused := &fetch.Error{Notice: message.Notice{Code: code, Message: "Later."}, Retryable: true, Wait: time.Hour, Paused: true}
		for _, job := range []*jobs.Job{rowsJob(), {Class: jobs.Interactive, Created: rowsJob().Created, Deadline: rowsJob().Deadline}} {
			gate, ok := errors.AsType[*tasks.SnoozeError](pageFailure(refused, job, tasks.OfferPage))
			if !ok || gate.After != maxPauseWait { // an operator can end the pause
				t.Errorf("%s, batch: %v", code, gate)
			}
		}
		failure, ok := errors.AsType[*tasks.StepError](pageFailure(refused, personsJob(), tasks.OfferPage))
		if !ok || !failure.Permanent || failure.Code != fetch.HostBusy || !strings.Contains(failure.Message, `"html"`) {
			t.Fatalf("%s, person: %+v", code, failure)
		}
		var details tasks.PauseDetails
		if err := json.Unmarshal(failure.Details, &details); err != nil || time.Until(details.RetryAt).Round(time.Minute) != time.Hour {
			t.Errorf("%s: %s, %v", code, failure.Details, err)
		}
		refused.Wait = 5 * time.Second
		if err := pageFailure(refused, personsJob(), tasks.OfferPage); tasks.JobError(err).Code != code {
			t.Errorf("%s: a person does not wait for a short pause: %v", code, err)
		}
	}
}

func TestWhatRobotsForbidIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	err := pageFailure(&fetch.Error{Notice: message.Notice{Code: fetch.RobotsForbidden, Message: "No."}}, rowsJob(), "")
	if failure, ok := errors.AsType[*tasks.StepError](err); !ok || !failure.Permanent || failure.Code != fetch.RobotsForbidden {
		t.Errorf("%v", err)
	}
}

// listingPage is a page of one car, with a charset that is a lie when it came
// as JSON.
const listingPage = `<!DOCTYPE html><meta charset="shift_jis"><title>2016 TOYOTA COROLLA AXIO</title><table>
<tr><th>Make</th><td>TOYOTA</td><th>Model</th><td>COROLLA AXIO</td></tr>
<tr><th>Model Code</th><td>DAA-NKE165</td><th>Version</th><td>ハイブリッドG</td></tr>
<tr><th>Registration Year/month</th><td>2016/3</td><th>Engine Size</th><td>1,490cc</td></tr>
<tr><th>Fuel</th><td>Hybrid</td><th>Mileage</th><td>88,400 km</td></tr></table>`

// desk is a scraper and a listing site.
type desk struct {
	*scraper
	site     string
	requests int // for the page
	redis    *miniredis.Miniredis
	asked    func() // is called before the page is sent; nil does nothing
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		d.requests++
		if d.asked != nil {
			d.asked()
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(listingPage))
	}))
	t.Cleanup(server.Close)
	d.redis = miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: d.redis.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	pages, err := fetch.New(fetch.Options{AllowLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pages.Close)
	d.scraper, d.site = newScraper(Options{
		Fetch: pages, SheetURL: sheetURL, Cache: cache.New(client), Jobs: jobs.NewStore(client),
		Processor: pace.NewProcessor(2),
	}), server.URL
	return d
}

func sheetURL(raw string) (string, error) {
	hosts, err := scan.NewHosts()
	if err != nil {
		return "", err
	}
	return hosts.Canonical(raw, false)
}

// pageHash stands for the hash of a page that was sent.
const pageHash = "0123abcd"

// read reads the listing: the page that was sent for the job, if any, when a hash is
// given.
func (d *desk) read(t *testing.T, hash string, sent []byte) (tasks.Scraped, error) {
	t.Helper()
	input, err := json.Marshal(tasks.EstimateInput{URL: d.site + "/car", Page: hash})
	if err != nil {
		t.Fatal(err)
	}
	job, _, err := d.jobs.Create(t.Context(), jobs.New{
		Kind: tasks.KindEstimate, Class: jobs.Interactive, Input: input, Deadline: time.Minute, Attachment: sent,
	})
	if err != nil {
		t.Fatal(err)
	}
	output, err := d.scrape(t.Context(), job)
	if _, _, endErr := d.jobs.End(t.Context(), job, jobs.End{State: jobs.Cancelled}); endErr != nil { // or the next one joins it
		t.Error(endErr)
	}
	scraped, _ := output.(tasks.Scraped)
	return scraped, err
}

func TestAPageThatWasSentIsReadAndNothingIsFetched(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	got, err := d.read(t, pageHash, []byte(listingPage))
	if err != nil || got.Car.ModelCode != "NKE165" || got.Car.Version != "ハイブリッドG" {
		t.Fatalf("%+v, %v", got.Car, err)
	}
	if w := got.Warnings; len(w) != 2 || w[0].Code != "registration_year" || w[1].Code != "pasted_page" {
		t.Errorf("warnings %v", w)
	}
	if d.requests != 0 {
		t.Error("the site was asked")
	}
	if got.Car.ReadAt != "" {
		t.Errorf("got the date %s, want none: when the page was fetched is not known", got.Car.ReadAt)
	}
	if fetched, err := newDesk(t).read(t, "", nil); err != nil || fetched.Car.ReadAt == "" {
		t.Errorf("got no date, %v, want when the page was fetched", err)
	}
	for key, kept := range map[cache.Key]bool{
		cache.UploadKey(d.site+"/car", pageHash): true, cache.EstimateKey(d.site + "/car"): false,
	} {
		if data, err := d.cache.Get(t.Context(), cache.ExplanationKey(key)); err != nil || (data != nil) != kept {
			t.Errorf("explanation under %s: %v", key, err)
		}
	}
}

func TestPagesThatWereSentAndAreNoListings(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	blocked := `<html><script>window.awsWafCookieDomainList = []</script></html>`
	for page, code := range map[string]string{
		"": "page_expired", "<p>hello</p>": "not_a_listing", "\x00\xff": "not_a_listing", blocked: "listing_blocked",
	} {
		var sent []byte
		if page != "" {
			sent = []byte(page)
		}
		_, err := d.read(t, pageHash, sent)
		if failure, ok := errors.AsType[*tasks.StepError](err); !ok || failure.Code != code || !failure.Permanent {
			t.Errorf("%q: %v, want %s", page, err, code)
		}
	}
}

func TestValuesAreExplained(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, err := d.read(t, "", nil); err != nil {
		t.Fatal(err)
	}
	data, err := d.cache.Get(t.Context(), cache.ExplanationKey(cache.EstimateKey(d.site+"/car")))
	if err != nil || !strings.HasPrefix(string(data), `{"explain":[{"name":"make","value":"TOYOTA","source":"`) {
		t.Errorf("%.200s, %v", data, err)
	}
}

// A page that waits for Redis is not slow: the next ones of its key are not put off.
func TestAPageThatWaitsForRedisIsNotSlow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.slow.places, d.slow.after = pace.NewPlaces(1), time.Millisecond
	isFree := func() bool { return d.slow.places.Admits("key") }
	sends := make(chan struct{})
	d.asked = func() { <-sends } // the site itself is slow
	send := sync.OnceFunc(func() { close(sends) })
	defer send()
	input, err := json.Marshal(tasks.EstimateInput{URL: d.site + "/car"})
	if err != nil {
		t.Fatal(err)
	}
	job := rowsJob()
	job.Owner, job.Input = "key", input
	ended := make(chan error, 1)
	go func() {
		_, err := d.scrape(t.Context(), job)
		ended <- err
	}()
	testenv.AwaitTrue(t, "the slow place that the page takes", func() bool { return !isFree() })
	d.redis.SetError("NOREPLICAS")
	send()
	testenv.AwaitTrue(t, "the place while the page is written", isFree)
	select {
	case err := <-ended:
		t.Errorf("the page was not written: %v", err)
	default:
	}
	d.redis.SetError("")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestASiteThatHangsIsGivenUp: a person is told after 45 seconds, and may describe the car; a row
// of a batch waits on.
func TestASiteThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	hanging := &fetch.Error{Notice: message.New("error/fetch_timeout", nil), Retryable: true}
	for name, c := range map[string]struct {
		age, deadline time.Duration
		want          bool
	}{
		"a person, first attempt":  {20 * time.Second, 3 * time.Minute, false},
		"a person, second attempt": {41 * time.Second, 3 * time.Minute, true},
		"a row":                    {41 * time.Second, 48 * time.Hour, false},
	} {
		created := time.Now().Add(-c.age)
		err := pageFailure(hanging, &jobs.Job{Created: created, Deadline: created.Add(c.deadline)}, "")
		failed, ok := errors.AsType[*tasks.StepError](err)
		if !ok || failed.Final != c.want || failed.Permanent {
			t.Errorf("%s: %+v, want the job to end: %t", name, failed, c.want)
		}
	}
}

// TestAPageOfABatchHasItsTurnBeforeItsMemory: neither is to be had, and what is waited for first says
// so. A page that waited for its turn with its memory would keep that from a person's page.
func TestAPageOfABatchHasItsTurnBeforeItsMemory(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	end, err := d.turns.BeginBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if !d.memory.TryAcquire(maxPageMemory) {
		t.Fatal("the memory of pages is not free")
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	for of, want := range map[*jobs.Job]bool{rowsJob(): false, personsJob(): true} {
		_, err := d.readPage(left, &fetch.Page{Body: []byte(listingPage)}, of)
		if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "wait for the memory") != want {
			t.Errorf("%s: got %v; want that it waits for memory to be %t", of.Class, err, want)
		}
	}
}

// Slow steps of a batch leave places to those of another key, and fast ones and those
// of people are not bounded.
func TestSlowStepsOfAKeyLeavePlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := newSlowSteps(16)
		var running, postponed, ended atomic.Int64
		step := func(takes time.Duration) stepFunc {
			return func(ctx context.Context, job *jobs.Job) (any, error) {
				return "done", slow.run(ctx, job, func(ctx context.Context) error {
					running.Add(1)
					defer running.Add(-1)
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(takes):
						return nil
					}
				})
			}
		}
		var all sync.WaitGroup
		run := func(owner string, class jobs.Class, takes time.Duration) {
			all.Go(func() {
				output, err := step(takes)(t.Context(), &jobs.Job{Owner: owner, Class: class})
				var snooze *tasks.SnoozeError
				switch {
				case errors.As(err, &snooze):
					postponed.Add(1)
				case err == nil && output == "done":
					ended.Add(1)
				default:
					t.Error(output, err)
				}
			})
		}
		want := func(what string, wantRunning, wantPostponed int64) {
			t.Helper()
			synctest.Wait()
			if running.Load() != wantRunning || postponed.Load() != wantPostponed {
				t.Errorf("%s: %d run and %d were postponed, want %d and %d", what, running.Load(), postponed.Load(), wantRunning, wantPostponed)
			}
		}
		// The clock is that of the bubble, which jumps; all goroutines have then done their part.
		aWhile := func() { time.Sleep(slow.after) }
		for range 16 {
			run("attacker", jobs.Bulk, 30*time.Second)
		}
		want("at first", 16, 0)
		aWhile()
		want("after a while", 11, 5)
		for range 5 {
			run("attacker", jobs.Bulk, 30*time.Second)
		}
		want("more of the same key", 11, 10)
		run("victim", jobs.Bulk, 30*time.Second)
		run("attacker", jobs.Interactive, time.Second)
		aWhile()
		want("another key, and a person", 12, 10)
		all.Wait()
		if ended.Load() != 13 {
			t.Errorf("%d ended, want 13", ended.Load())
		}
		var releases []func()
		for n := range 11 {
			release, ok := slow.places.Try("attacker")
			if !ok {
				t.Fatalf("%d places are free again, want 11", n)
			}
			releases = append(releases, release)
		}
		for _, release := range releases {
			release()
		}
		run("attacker", jobs.Bulk, time.Second)
		all.Wait()
		if ended.Load() != 14 {
			t.Error("a fast step was postponed")
		}
	})
}
