package metrics_test

import (
	"context"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/metrics"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// noon is a time at which a day of Dar es Salaam and one of UTC are the same.
var noon = time.Date(2026, 11, 22, 12, 10, 0, 0, time.UTC)

// rig is a Recorder whose clock the test moves.
type rig struct {
	*metrics.Recorder

	metrics *metrics.Metrics
	client  redis.UniversalClient
	now     time.Time
}

func newRig(client redis.UniversalClient) *rig {
	r := &rig{client: client, now: noon}
	known := map[string]string{"beforward.jp": "beforward.jp", "www.beforward.jp": "beforward.jp"}
	r.Recorder = metrics.NewRecorder(metrics.RecorderOptions{
		Redis: client, Now: func() time.Time { return r.now }, HostOf: func(host string) string { return known[host] },
	})
	r.metrics = metrics.New(metrics.Options{Recorder: r.Recorder, Codes: []string{"listing_gone", "fetch_timeout", "internal"}})
	return r
}

func (r *rig) hours(t *testing.T, n int) []metrics.Hour {
	t.Helper()
	hours, err := metrics.Hours(t.Context(), r.client, r.now, n)
	if err != nil {
		t.Fatal(err)
	}
	return hours
}

func TestStepsAreCountedBySiteStepCodeAndHour(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		r := newRig(conn.Client())
		for range 3 {
			r.metrics.Step(metrics.Step{Host: "www.beforward.jp", Kind: "estimate", Step: "scrape", Outcome: metrics.Completed, Took: 1500 * time.Millisecond})
		}
		r.metrics.Step(metrics.Step{Host: "203.0.113.9", Kind: "estimate", Step: "scrape", Outcome: metrics.Failed, Code: "listing_gone", Job: "one"})
		r.metrics.Step(metrics.Step{Host: "nowhere.example", Kind: "estimate", Step: "scrape", Outcome: metrics.Failed, Code: "listing_gone", Job: "two"})
		r.metrics.Step(metrics.Step{Host: "beforward.jp", Kind: "estimate", Step: "scrape", Outcome: metrics.Retried, Code: "fetch_timeout"})
		r.Write(t.Context())
		r.now = noon.Add(time.Hour)
		r.metrics.Step(metrics.Step{Kind: "quote", Step: "match", Outcome: metrics.Completed, Took: time.Millisecond})
		r.Write(t.Context())
		r.Write(t.Context()) // nothing is written twice

		hours := r.hours(t, 3)
		before := map[metrics.What]int64{
			{"beforward.jp", "estimate:scrape", metrics.OK}: 3, {metrics.Other, "estimate:scrape", "listing_gone"}: 2,
		}
		if got := hours[1].Ended; !reflect.DeepEqual(got, before) {
			t.Errorf("an hour ago: %v, want %v", got, before)
		}
		if got := hours[1].Retried()[metrics.What{Site: "beforward.jp", Step: "estimate:scrape", Code: "fetch_timeout"}]; got != 1 {
			t.Errorf("%d attempts that were tried again, want 1", got)
		}
		if got := hours[0].Ended; !reflect.DeepEqual(got, map[metrics.What]int64{{metrics.NoSite, "quote:match", metrics.OK}: 1}) {
			t.Errorf("now: %v", got)
		}
		if total := metrics.Sum(hours); len(total.Ended) != 3 || len(hours[2].Ended) != 0 {
			t.Errorf("sum %v, two hours ago %v", total.Ended, hours[2].Ended)
		}
		marks, err := metrics.ReadMarks(t.Context(), conn.Client())
		if err != nil {
			t.Fatal(err)
		}
		if got := marks.LastRead["beforward.jp"]; !got.Equal(noon) {
			t.Errorf("last read at %s, want %s", got, noon)
		}
		failed, err := metrics.FailedJobs(t.Context(), conn.Client(), "estimate:scrape", "listing_gone")
		if err != nil || !reflect.DeepEqual(failed, []string{"two", "one"}) {
			t.Errorf("failed jobs: %v, %v", failed, err)
		}
		err = metrics.ForgetFailed(t.Context(), conn.Client(), "estimate:scrape", "listing_gone", "two")
		if left, _ := metrics.FailedJobs(t.Context(), conn.Client(), "estimate:scrape", "listing_gone"); err != nil ||
			!reflect.DeepEqual(left, []string{"one"}) {
			t.Errorf("failed jobs: %v, %v", left, err)
		}
		if got := marks.Examples[metrics.ExampleName("estimate:scrape", "listing_gone")]; got != "two" {
			t.Errorf("the example is %q, want the newest", got)
		}
	})
}

// API keys can make and delete endpoints all the time.
func TestReceiversAreBounded(t *testing.T) {
	r := newRig(redistest.Embedded(t).Client())
	for range 2 {
		for i := range 1200 {
			r.metrics.Call(metrics.Call{To: metrics.Webhook, Name: "wh" + strconv.Itoa(i), Took: time.Second})
		}
		r.Write(t.Context())
		ended := r.hours(t, 1)[0].Ended
		if last := ended[metrics.What{Site: metrics.Webhook, Step: metrics.Other, Code: metrics.OK}]; len(ended) != 1001 || last != 200 {
			t.Errorf("%d endpoints, %d of others", len(ended), last)
		}
		r.now = r.now.Add(time.Hour)
	}
}

func TestMedianLiesWithinItsBucket(t *testing.T) {
	r := newRig(redistest.Open(t, redistest.Start(t).URL).Client())
	every := func(metrics.What) bool { return true }
	for seconds, n := range map[float64]int{0.1: 10, 1.5: 60, 100: 30} {
		for range n {
			r.metrics.Call(metrics.Call{To: metrics.Authority, Name: "getYom", Took: time.Duration(seconds * float64(time.Second))})
		}
	}
	r.metrics.Call(metrics.Call{To: metrics.Authority, Name: "getYom", Kind: "unavailable", Took: time.Minute})
	r.Write(t.Context())
	counts := r.hours(t, 1)[0].Counts
	if got, want := counts.Median(every), 1667*time.Millisecond; got.Round(time.Millisecond) != want { // 40 of the 60 between 1 and 2 s
		t.Errorf("median %s, want %s", got, want)
	}
	if got := counts.Median(func(what metrics.What) bool { return what.Site == metrics.AI }); got != 0 {
		t.Errorf("median of nothing: %s", got)
	}
}

func TestTokensOfModelsWithSlashes(t *testing.T) {
	r := newRig(redistest.Open(t, redistest.Start(t).URL).Client())
	r.metrics.Call(metrics.Call{To: metrics.AI, Name: "meta/llama-4", Prompt: 1000, Completion: 200})
	r.metrics.Call(metrics.Call{To: metrics.AI, Name: "meta/llama-4", Kind: "timeout", Prompt: 300})
	r.Write(t.Context())
	counts, model := r.hours(t, 1)[0].Counts, metrics.What{Site: metrics.AI, Step: "meta/llama-4"}
	if counts.Marked[metrics.What{model.Site, model.Step, metrics.Tokens}] != 1500 || counts.Ended[metrics.What{metrics.AI, "meta/llama-4", "timeout"}] != 1 {
		t.Errorf("%+v", counts)
	}
}

func TestKeysAreCountedByTheDayOfDarEsSalaam(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		r := newRig(conn.Client())
		r.Key("abc")
		r.now = noon.Add(10 * time.Hour) // after midnight there
		r.Key("abc")
		r.Key("abc")
		r.Key("")
		r.Write(t.Context())
		usage, err := metrics.ReadUsage(t.Context(), conn.Client(), r.now)
		if err != nil || len(usage) != 1 || usage["abc"].Today != 2 || !usage["abc"].LastUsed.Equal(r.now) {
			t.Errorf("%v, %v", usage, err)
		}
		yesterday, _ := metrics.ReadUsage(t.Context(), conn.Client(), noon)
		if yesterday["abc"].Today != 1 {
			t.Errorf("%d requests yesterday, want 1", yesterday["abc"].Today)
		}
	})
}

// What is counted while Redis is away is written when it is back, once.
func TestCountsWaitForRedis(t *testing.T) {
	server := redistest.Start(t)
	line := redistest.Proxy(t, server.Addr)
	r := newRig(redistest.Open(t, line.URL).Client())
	line.Disable()
	r.metrics.Step(metrics.Step{Kind: "quote", Step: "match", Outcome: metrics.Completed})
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r.Write(short)
	line.Enable()
	r.metrics.Step(metrics.Step{Kind: "quote", Step: "match", Outcome: metrics.Completed})
	testenv.Await(t, "two steps are counted", func() (any, bool) {
		r.Write(t.Context())
		got := r.hours(t, 1)[0].Ended[metrics.What{metrics.NoSite, "quote:match", metrics.OK}]
		return got, got == 2
	})
}

func TestNothingIsKeptForEver(t *testing.T) {
	r := newRig(redistest.Open(t, redistest.Start(t).URL).Client())
	r.metrics.Step(metrics.Step{Host: "beforward.jp", Kind: "estimate", Step: "scrape", Outcome: metrics.Completed})
	r.metrics.Step(metrics.Step{Host: "beforward.jp", Kind: "estimate", Step: "scrape", Outcome: metrics.Failed, Code: "internal", Job: "one"})
	r.Key("abc")
	r.Write(t.Context())
	keys, err := r.client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 6 {
		t.Fatalf("%v, %v", keys, err)
	}
	for _, key := range keys {
		ttl, err := r.client.TTL(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		if forever := ttl < 0; forever != (key == "keys:used") || ttl > 8*24*time.Hour {
			t.Errorf("%s is kept for %s", key, ttl)
		}
	}
}

func TestNilRecorderCountsNothing(t *testing.T) {
	r := (*metrics.Metrics)(nil).Recorder()
	r.Key("abc")
	r.Write(t.Context())
	r.AddTo(t.Context(), nil)()
	metrics.New(metrics.Options{}).Step(metrics.Step{Outcome: metrics.Failed})
}

// TestAFailedJobThatRedisRefusedIsListedLater, though nothing else is counted by then.
func TestAFailedJobThatRedisRefusedIsListedLater(t *testing.T) {
	t.Parallel()
	client := redistest.Open(t, redistest.Start(t).URL).Client()
	r := newRig(client)
	list := "stat:failed:" + metrics.ExampleName("estimate:scrape", "listing_gone")
	if err := client.Set(t.Context(), list, "no list", 0).Err(); err != nil {
		t.Fatal(err)
	}
	r.metrics.Step(metrics.Step{Kind: "estimate", Step: "scrape", Outcome: metrics.Failed, Code: "listing_gone", Job: "one"})
	r.Write(t.Context())
	if err := client.Del(t.Context(), list).Err(); err != nil {
		t.Fatal(err)
	}
	r.Write(t.Context())
	failed, err := metrics.FailedJobs(t.Context(), client, "estimate:scrape", "listing_gone")
	if err != nil || !reflect.DeepEqual(failed, []string{"one"}) {
		t.Errorf("got %v, %v, want the job", failed, err)
	}
}
