package stat_test

import (
	"context"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/stat"
	"ushuru/pkg/testenv"
)

// noon is a time at which a day of Dar es Salaam and one of UTC are the same.
var noon = time.Date(2026, 11, 22, 12, 10, 0, 0, time.UTC)

// rig is a Recorder whose clock the test moves.
type rig struct {
	*stat.Recorder

	client redis.UniversalClient
	now    time.Time
}

func newRig(client redis.UniversalClient) *rig {
	r := &rig{client: client, now: noon}
	known := map[string]string{"beforward.jp": "beforward.jp", "www.beforward.jp": "beforward.jp"}
	r.Recorder = stat.NewRecorder(stat.Options{
		Redis: client, Now: func() time.Time { return r.now }, SiteOf: func(host string) string { return known[host] },
	})
	return r
}

func (r *rig) hours(t *testing.T, n int) []stat.Hour {
	t.Helper()
	hours, err := stat.Hours(t.Context(), r.client, r.now, n)
	if err != nil {
		t.Fatal(err)
	}
	return hours
}

func TestStepsAreCountedBySiteStepCodeAndHour(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		r := newRig(conn.Client())
		for range 3 {
			r.Step(stat.Step{Site: "www.beforward.jp", Type: "estimate:scrape", Code: stat.OK, Took: 1500 * time.Millisecond})
		}
		r.Step(stat.Step{Site: "203.0.113.9", Type: "estimate:scrape", Code: "listing_gone", Job: "one"})
		r.Step(stat.Step{Site: "nowhere.example", Type: "estimate:scrape", Code: "listing_gone", Job: "two"})
		r.Step(stat.Step{Site: "beforward.jp", Type: "estimate:scrape", Code: "fetch_timeout", Retried: true})
		r.Write(t.Context())
		r.now = noon.Add(time.Hour)
		r.Step(stat.Step{Type: "quote:match", Code: stat.OK, Took: time.Millisecond})
		r.Write(t.Context())
		r.Write(t.Context()) // nothing is written twice

		hours := r.hours(t, 3)
		before := map[stat.What]int64{
			{"beforward.jp", "estimate:scrape", stat.OK}: 3, {stat.Other, "estimate:scrape", "listing_gone"}: 2,
		}
		if got := hours[1].Ended; !reflect.DeepEqual(got, before) {
			t.Errorf("an hour ago: %v, want %v", got, before)
		}
		if got := hours[1].Retried[stat.What{Site: "beforward.jp", Step: "estimate:scrape", Code: "fetch_timeout"}]; got != 1 {
			t.Errorf("%d attempts that were tried again, want 1", got)
		}
		if got := hours[0].Ended; !reflect.DeepEqual(got, map[stat.What]int64{{stat.NoSite, "quote:match", stat.OK}: 1}) {
			t.Errorf("now: %v", got)
		}
		if total := stat.Sum(hours); len(total.Ended) != 3 || len(hours[2].Ended) != 0 {
			t.Errorf("sum %v, two hours ago %v", total.Ended, hours[2].Ended)
		}
		marks, err := stat.ReadMarks(t.Context(), conn.Client())
		if err != nil {
			t.Fatal(err)
		}
		if got := marks.LastRead["beforward.jp"]; !got.Equal(noon) {
			t.Errorf("last read at %s, want %s", got, noon)
		}
		failed, err := stat.Failed(t.Context(), conn.Client(), "estimate:scrape", "listing_gone")
		if err != nil || !reflect.DeepEqual(failed, []string{"two", "one"}) {
			t.Errorf("failed jobs: %v, %v", failed, err)
		}
		err = stat.ForgetFailed(t.Context(), conn.Client(), "estimate:scrape", "listing_gone", "two")
		if left, _ := stat.Failed(t.Context(), conn.Client(), "estimate:scrape", "listing_gone"); err != nil ||
			!reflect.DeepEqual(left, []string{"one"}) {
			t.Errorf("failed jobs: %v, %v", left, err)
		}
		if got := marks.Examples[stat.ExampleName("estimate:scrape", "listing_gone")]; got != "two" {
			t.Errorf("the example is %q, want the newest", got)
		}
	})
}

// API keys can make and delete endpoints all the time.
func TestReceiversAreBounded(t *testing.T) {
	r := newRig(redistest.Embedded(t).Client())
	for range 2 {
		for i := range 1200 {
			r.Call(stat.Call{To: stat.Webhook, Name: "wh" + strconv.Itoa(i), Code: stat.OK, Took: time.Second})
		}
		r.Write(t.Context())
		ended := r.hours(t, 1)[0].Ended
		if last := ended[stat.What{Site: stat.Webhook, Step: stat.Other, Code: stat.OK}]; len(ended) != 1001 || last != 200 {
			t.Errorf("%d endpoints, %d of others", len(ended), last)
		}
		r.now = r.now.Add(time.Hour)
	}
}

func TestMedianLiesWithinItsBucket(t *testing.T) {
	r := newRig(redistest.Open(t, redistest.Start(t).URL).Client())
	every := func(stat.What) bool { return true }
	for seconds, n := range map[float64]int{0.1: 10, 1.5: 60, 100: 30} {
		for range n {
			r.Call(stat.Call{To: stat.Authority, Name: "getYom", Code: stat.OK, Took: time.Duration(seconds * float64(time.Second))})
		}
	}
	r.Call(stat.Call{To: stat.Authority, Name: "getYom", Code: "unavailable", Took: time.Minute})
	r.Write(t.Context())
	counts := r.hours(t, 1)[0].Counts
	if got, want := counts.Median(every), 1667*time.Millisecond; got.Round(time.Millisecond) != want { // 40 of the 60 between 1 and 2 s
		t.Errorf("median %s, want %s", got, want)
	}
	if got := counts.Median(func(what stat.What) bool { return what.Site == stat.AI }); got != 0 {
		t.Errorf("median of nothing: %s", got)
	}
}

func TestTokensOfModelsWithSlashes(t *testing.T) {
	r := newRig(redistest.Open(t, redistest.Start(t).URL).Client())
	r.Call(stat.Call{To: stat.AI, Name: "meta/llama-4", Code: stat.OK, Tokens: 1200, Cost: 0.0021})
	r.Call(stat.Call{To: stat.AI, Name: "meta/llama-4", Code: "timeout", Tokens: 300})
	r.Write(t.Context())
	counts, model := r.hours(t, 1)[0].Counts, stat.What{Site: stat.AI, Step: "meta/llama-4"}
	if counts.Tokens[model] != 1500 || counts.Dollars[model] != 0.0021 || counts.Ended[stat.What{stat.AI, "meta/llama-4", "timeout"}] != 1 {
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
		usage, err := stat.ReadUsage(t.Context(), conn.Client(), r.now)
		if err != nil || len(usage) != 1 || usage["abc"].Today != 2 || !usage["abc"].LastUsed.Equal(r.now) {
			t.Errorf("%v, %v", usage, err)
		}
		yesterday, _ := stat.ReadUsage(t.Context(), conn.Client(), noon)
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
	r.Step(stat.Step{Type: "quote:match", Code: stat.OK})
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r.Write(short)
	line.Enable()
	r.Step(stat.Step{Type: "quote:match", Code: stat.OK})
	testenv.Await(t, "two steps are counted", func() (any, bool) {
		r.Write(t.Context())
		got := r.hours(t, 1)[0].Ended[stat.What{stat.NoSite, "quote:match", stat.OK}]
		return got, got == 2
	})
}

func TestNothingIsKeptForEver(t *testing.T) {
	r := newRig(redistest.Open(t, redistest.Start(t).URL).Client())
	r.Step(stat.Step{Site: "beforward.jp", Type: "estimate:scrape", Code: stat.OK})
	r.Step(stat.Step{Site: "beforward.jp", Type: "estimate:scrape", Code: "internal", Job: "one"})
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
	var r *stat.Recorder
	r.Step(stat.Step{})
	r.Call(stat.Call{})
	r.Key("abc")
	r.Write(t.Context())
}
